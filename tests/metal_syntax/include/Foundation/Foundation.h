// As much of Apple's Foundation as src/device/metal_device.mm names, for a check of its syntax elsewhere: the
// names and types of the documented interface, no implementation.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef unsigned long NSUInteger;

__attribute__((objc_root_class))
@interface NSObject
+ (instancetype)alloc;
- (instancetype)init;
@end

@interface NSString : NSObject
+ (instancetype)stringWithUTF8String:(const char*)text;
- (const char*)UTF8String;
@end

@interface NSError : NSObject
- (NSString*)localizedDescription;
@end

typedef struct {
  unsigned long state;
  id __unsafe_unretained* itemsPtr;
  unsigned long* mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;

@interface NSDictionary<Key, Value> : NSObject
- (NSUInteger)count;
- (Value)objectForKey:(Key)key;
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)length;
@end

@interface NSProcessInfo : NSObject
+ (NSProcessInfo*)processInfo;
- (NSString*)operatingSystemVersionString;
@end
