# cmake --install out/release --prefix /usr/local: after the target `programs`, nothing else need be built.
# The program looks for its children in ../libexec/kforge and for its data in ../share/kforge (base/files.cc).
install(TARGETS kforge RUNTIME DESTINATION bin)
install(TARGETS ${KFORGE_CHILDREN} RUNTIME DESTINATION libexec/kforge LIBRARY DESTINATION libexec/kforge)
# The sources of the children that are compiled for other machines too (build/target_programs.cc).
install(DIRECTORY src/runner DESTINATION share/kforge/src FILES_MATCHING PATTERN "*.cc" PATTERN "*.h" PATTERN "*_test.cc" EXCLUDE)
install(DIRECTORY src/profile/caller DESTINATION share/kforge/src/profile FILES_MATCHING PATTERN "*.cc" PATTERN "*.h")
# The headers that emulated builds read (src/emulate/emulate.cc).
install(DIRECTORY src/emulate/include DESTINATION share/kforge/src/emulate)
install(DIRECTORY models pages platforms prompts python tasks DESTINATION share/kforge PATTERN __pycache__ EXCLUDE)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/kforge)
install(DIRECTORY docs/ DESTINATION share/doc/kforge/docs)

# Completions and manual pages come from the program's own table of commands.
set(made ${CMAKE_BINARY_DIR}/share)
add_custom_command(OUTPUT ${made}/stamp
  COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
  COMMAND $<TARGET_FILE:kforge> man --to ${made}/man1
  COMMAND $<TARGET_FILE:kforge> completion bash > ${made}/kforge.bash
  COMMAND $<TARGET_FILE:kforge> completion zsh > ${made}/kforge.zsh
  COMMAND $<TARGET_FILE:kforge> completion fish > ${made}/kforge.fish
  COMMAND ${CMAKE_COMMAND} -E touch ${made}/stamp
  DEPENDS kforge COMMENT "Writing completions and manual pages" VERBATIM)
add_custom_target(kforge_manual DEPENDS ${made}/stamp)
add_dependencies(programs kforge_manual)
install(DIRECTORY ${made}/man1 DESTINATION share/man)
install(FILES ${made}/kforge.bash DESTINATION share/bash-completion/completions RENAME kforge)
install(FILES ${made}/kforge.zsh DESTINATION share/zsh/site-functions RENAME _kforge)
install(FILES ${made}/kforge.fish DESTINATION share/fish/vendor_completions.d)
