// Every operator the oracle knows, by its ONNX name. The list is the only place to add one to: the
// declarations below and the table in operator_table.cc are made from it.
#pragma once

#include "oracle/call.h"

// clang-format off
#define KF_ORACLE_OPERATORS(X)                                                                                \
  /* unary.cc */ X(Abs) X(Neg) X(Sign) X(Ceil) X(Floor) X(Round) X(Reciprocal) X(Sqrt) X(Exp) X(Log) X(Erf)   \
  X(Sin) X(Cos) X(Tan) X(Asin) X(Acos) X(Atan) X(Sinh) X(Cosh) X(Tanh) X(Asinh) X(Acosh) X(Atanh)             \
  X(IsNaN) X(IsInf) X(Not) X(BitwiseNot)                                                                      \
  /* activation.cc */ X(Relu) X(LeakyRelu) X(ThresholdedRelu) X(Elu) X(Celu) X(Selu) X(Sigmoid)               \
  X(HardSigmoid) X(HardSwish) X(Softplus) X(Softsign) X(Mish) X(Swish) X(Gelu) X(Shrink) X(Clip) X(PRelu)     \
  /* binary.cc */ X(Add) X(Sub) X(Mul) X(Div) X(Mod) X(Pow) X(Max) X(Min) X(Sum) X(Mean)                      \
  /* logic.cc */ X(Equal) X(Less) X(LessOrEqual) X(Greater) X(GreaterOrEqual) X(And) X(Or) X(Xor)             \
  X(BitwiseAnd) X(BitwiseOr) X(BitwiseXor) X(BitShift) X(Where)                                               \
  /* matmul.cc */ X(MatMul) X(Gemm)                                                                           \
  /* reduce.cc */ X(ReduceSum) X(ReduceMean) X(ReduceProd) X(ReduceL1) X(ReduceL2) X(ReduceSumSquare)         \
  X(ReduceLogSum) X(ReduceMax) X(ReduceMin) X(ReduceLogSumExp)                                                \
  /* conv.cc */ X(Conv)                                                                                        \
  /* conv_transpose.cc */ X(ConvTranspose)                                                                    \
  /* pool.cc */ X(MaxPool) X(AveragePool) X(LpPool) X(GlobalAveragePool) X(GlobalMaxPool) X(GlobalLpPool)     \
  X(MaxUnpool)                                                                                                \
  /* normalize.cc */ X(BatchNormalization) X(GroupNormalization) X(InstanceNormalization)                     \
  X(LayerNormalization) X(RMSNormalization) X(LpNormalization) X(MeanVarianceNormalization) X(LRN)            \
  /* scan.cc */ X(CumSum) X(CumProd)                                                                          \
  /* gather.cc */ X(Gather) X(GatherElements) X(GatherND) X(Compress) X(ReverseSequence)                      \
  /* scatter.cc */ X(ScatterElements) X(Scatter) X(ScatterND)                                                 \
  /* einsum.cc */ X(Einsum)                                                                                   \
  /* loss.cc */ X(NegativeLogLikelihoodLoss) X(SoftmaxCrossEntropyLoss)                                       \
  /* dropout.cc */ X(Dropout) /* opaque.cc */ X(Opaque)                                                                 \
  /* control.cc */ X(If) X(Loop) X(Scan)                                                                      \
  /* quantize.cc */ X(QuantizeLinear) X(DequantizeLinear) X(DynamicQuantizeLinear) X(MatMulInteger)           \
  X(ConvInteger) X(QLinearMatMul) X(QLinearConv)                                                              \
  /* rnn.cc */ X(RNN) X(GRU) X(LSTM)                                                                          \
  /* optimizer.cc */ X(Adagrad) X(Adam) X(Momentum)                                                           \
  /* resize.cc */ X(Resize) X(Upsample)                                                                       \
  /* sample.cc */ X(GridSample) X(RoiAlign)                                                                   \
  /* signal.cc */ X(HannWindow) X(HammingWindow) X(BlackmanWindow) X(DFT) X(STFT) X(MelWeightMatrix)          \
  /* unique.cc */ X(Unique) X(NonMaxSuppression)                                                              \
  /* det.cc */ X(Det)                                                                                         \
  /* strings.cc */ X(StringNormalizer) X(TfIdfVectorizer)                                                     \
  /* choose.cc */ X(ArgMax) X(ArgMin) X(TopK)                                                                 \
  /* softmax.cc */ X(Softmax) X(LogSoftmax) X(Hardmax)                                                        \
  /* reshape.cc */ X(Identity) X(Reshape) X(Flatten) X(Squeeze) X(Unsqueeze)                                  \
  /* movement.cc */ X(Transpose) X(Expand) X(Tile) X(Slice) X(Split) X(DepthToSpace) X(SpaceToDepth)          \
  /* concat.cc */ X(Concat) X(Pad) X(Trilu)                                                                   \
  /* cast.cc */ X(Cast) X(CastLike)                                                                           \
  /* generate.cc */ X(Shape) X(Size) X(Constant) X(ConstantOfShape) X(Range) X(EyeLike) X(OneHot) X(NonZero)
// clang-format on

namespace kforge {

#define KF_DECLARE(name) KF_ORACLE_OPERATOR(name);
KF_ORACLE_OPERATORS(KF_DECLARE)
#undef KF_DECLARE

// Pieces that several operators are made of.
template <class F>
Tensor<F> matmul(const Call<F>& call, const Tensor<F>& a, const Tensor<F>& b);
template <class F>
Tensor<F> cast(const Call<F>& call, const Tensor<F>& x, DType to);
// An element type given as ONNX's number for it.
template <class F>
DType dtype_attr(const Call<F>& call, std::string_view name, DType otherwise);

}  // namespace kforge
