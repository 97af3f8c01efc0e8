/* The one public seam of flashbench: what an attention implementation is.
 *
 * C11, no CUDA type but the stream as a pointer; the leaf of every dependency. The built-in
 * kernels, a plugin in C and a plugin in Python (ctypes) all describe themselves with
 * FlashbenchPlugin and are served by libflashbench-worker, so that every figure comes from one
 * timer and one set of guards.
 *
 * Symbols: B batch, Hq query heads, Hkv key/value heads, Sq and Sk query and key length, d head
 * dimension. Query head h reads KV head floor(h * Hkv / Hq). A causal query i sees the keys 0 ... i
 * + Sk - Sq. A query that sees no key has O = 0, LSE = -inf, dQ = 0. LSE is the natural logarithm.
 *
 * Every function returns a FlashbenchStatus; whenever that is not FLASHBENCH_OK it has written one
 * sentence (no newline) into the FlashbenchMessage. "Unsupported" is an answer, never an abort.
 * Strings returned live as long as the library.
 */
#ifndef FLASHBENCH_ATTENTION_H
#define FLASHBENCH_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLASHBENCH_ABI 1u

/* Of a function that a library exports, however it is compiled. */
#define FLASHBENCH_EXPORT __attribute__((visibility("default")))

typedef enum FlashbenchStatus {
  FLASHBENCH_OK = 0,
  FLASHBENCH_UNSUPPORTED = 1,   /* this problem or device is outside what the implementation does */
  FLASHBENCH_OUT_OF_MEMORY = 2, /* memory could not be had; the instance is as before the call */
  FLASHBENCH_FAILED = 3         /* anything else, a failed launch included */
} FlashbenchStatus;

typedef enum FlashbenchBackend { FLASHBENCH_CPU = 0, FLASHBENCH_CUDA = 1 } FlashbenchBackend;
typedef enum FlashbenchDtype {
  FLASHBENCH_FP32 = 0,
  FLASHBENCH_FP16 = 1,
  FLASHBENCH_BF16 = 2
} FlashbenchDtype;
typedef enum FlashbenchMask { FLASHBENCH_FULL = 0, FLASHBENCH_CAUSAL = 1 } FlashbenchMask;
typedef enum FlashbenchLayout { FLASHBENCH_BSHD = 0, FLASHBENCH_BHSD = 1 } FlashbenchLayout;

/* Bit sets. FLASHBENCH_FORWARD | FLASHBENCH_BACKWARD is the pass "fwd+bwd". */
enum { FLASHBENCH_FORWARD = 1u, FLASHBENCH_BACKWARD = 2u };
/* Row statistics a forward saves for the backward, fp32, shape (B, Hq, Sq), contiguous. */
enum { FLASHBENCH_SAVES_LSE = 1u, FLASHBENCH_SAVES_M_AND_L = 2u };

typedef struct FlashbenchMessage {
  char text[512]; /* NUL-terminated UTF-8 */
} FlashbenchMessage;

typedef struct FlashbenchDevice {
  FlashbenchBackend backend;
  int32_t ordinal;                /* CUDA device ordinal; 0 on the CPU */
  int32_t compute_capability;     /* 10 * major + minor; 0 on the CPU */
  int32_t multiprocessors;        /* SMs; on the CPU the threads an implementation may use */
  int64_t shared_bytes_per_block; /* the most a block can opt in to */
  int64_t shared_bytes_per_multiprocessor;
  int64_t l2_bytes;
  int64_t memory_bytes;
} FlashbenchDevice;

typedef struct FlashbenchProblem {
  int64_t batch, query_heads, kv_heads, seq_q, seq_k, head_dim;
  FlashbenchDtype dtype; /* of Q, K, V, O and their gradients */
  FlashbenchMask mask;
  FlashbenchLayout layout; /* a hint: the strides of FlashbenchTensor are what counts */
  uint32_t passes;         /* FLASHBENCH_FORWARD and/or FLASHBENCH_BACKWARD */
  int32_t deterministic;   /* 1: repeated backward runs must be bitwise equal */
  double scale;            /* S = scale * Q K^T; any finite number */
  int64_t alignment;       /* bytes: every tensor pointer is a multiple of it */
} FlashbenchProblem;

/* A (B, S, H, d) tensor as a view: element (b, s, h, x) lies at data + b*batch + s*seq + h*head + x
 * elements. Never null for a tensor that has elements. */
typedef struct FlashbenchTensor {
  void* data;
  int64_t batch, seq, head; /* strides in elements; 64-bit because B*S*H*d may pass 2^31 */
} FlashbenchTensor;

/* The tensors whose traffic is modelled and counted. */
typedef enum FlashbenchOperand {
  FLASHBENCH_Q = 0,
  FLASHBENCH_K,
  FLASHBENCH_V,
  FLASHBENCH_O,
  FLASHBENCH_STATISTICS, /* m, l, LSE, D */
  FLASHBENCH_SCORES,     /* S and P where they are materialised */
  FLASHBENCH_DO,
  FLASHBENCH_DQ, /* fp32 accumulators included */
  FLASHBENCH_DK,
  FLASHBENCH_DV,
  FLASHBENCH_OPERANDS
} FlashbenchOperand;

typedef struct FlashbenchTraffic {
  double read[FLASHBENCH_OPERANDS];    /* bytes */
  double written[FLASHBENCH_OPERANDS]; /* bytes */
} FlashbenchTraffic;

/* The unit that bounds a kernel's products; one measured ceiling exists for each. */
typedef enum FlashbenchPipe {
  FLASHBENCH_PIPE_NONE = 0, /* no products: bytes or exponentials bind */
  FLASHBENCH_PIPE_SGEMM,    /* fp32 products on the CPU */
  FLASHBENCH_PIPE_GEMM,     /* the best library GEMM in the dtype (cuBLAS) */
  FLASHBENCH_PIPE_MMA,      /* mma.sync */
  FLASHBENCH_PIPE_WGMMA     /* wgmma */
} FlashbenchPipe;

enum { FLASHBENCH_MAX_KERNELS = 12 };

/* What one launch will do, as the implementation's own tiles do it (tails and masked parts
 * included). */
typedef struct FlashbenchKernelCost {
  const char* kernel;
  FlashbenchPipe pipe;
  double flops;              /* multiply-adds count two */
  double exponentials;       /* exp or exp2 evaluations */
  FlashbenchTraffic traffic; /* bytes this kernel asks of memory; a cache may serve them */
} FlashbenchKernelCost;

typedef struct FlashbenchCost {
  uint32_t kernel_count;
  FlashbenchKernelCost kernels[FLASHBENCH_MAX_KERNELS];
  int64_t workspace_bytes; /* given to create; beyond inputs, outputs and saved statistics */
  uint32_t saves;          /* FLASHBENCH_SAVES_...: which statistics forward writes */
} FlashbenchCost;

/* What the compiler and the launch made of a kernel; -1 where it has no meaning. */
typedef struct FlashbenchLaunch {
  const char* kernel;
  int32_t registers;     /* a thread */
  int32_t spilled_bytes; /* local memory a thread */
  int32_t threads;       /* a block */
  int64_t shared_bytes;  /* a block, static and dynamic */
  int64_t blocks;
  int32_t blocks_per_multiprocessor;
  double waves; /* blocks / (blocks per multiprocessor * multiprocessors) */
} FlashbenchLaunch;

/* What an instance did in its last pass, counted while it ran (CPU implementations; the document's
 * sections 3, 4, 6.2). */
typedef struct FlashbenchCounts {
  FlashbenchTraffic traffic; /* bytes moved between the tensors in memory and the tile buffers */
  double exponentials;
  double divisions;   /* elementwise, normalisation only */
  double corrections; /* elementwise multiplications that rescale O */
  double merges;      /* partial results merged across warps' shares, in rows */
  double barriers;    /* points at which all warps of a block wait */
  double flops;
} FlashbenchCounts;

/* Forward: O = softmax(scale * Q K^T, mask) V. Statistics pointers are null where not asked for.
 * m is the largest S = scale * Q K^T of a row, which a kernel on a GPU that seldom rescales may
 * leave at most 8 ln 2 below it; l is the sum of exp(S - m). */
typedef struct FlashbenchForward {
  FlashbenchTensor q, k, v; /* read only */
  FlashbenchTensor o;
  float *lse, *m, *l; /* (B, Hq, Sq); null unless the cost's `saves` names them */
} FlashbenchForward;

/* Backward: dQ, dK, dV from dO. At least one of lse or (m, l) is given; every implementation
 * accepts either. */
typedef struct FlashbenchBackward {
  FlashbenchTensor q, k, v, o, d_o; /* read only */
  FlashbenchTensor dq, dk, dv;
  const float *lse, *m, *l;
} FlashbenchBackward;

/* An instance owns handles and its workspace's layout for one problem on one device. Between create
 * and destroy it neither allocates nor synchronises and keeps no state from one call to the next
 * that a result depends on. */
typedef struct FlashbenchInstance {
  void* state;
  uint32_t launch_count;
  FlashbenchLaunch launches[FLASHBENCH_MAX_KERNELS];
} FlashbenchInstance;

typedef struct FlashbenchImplementation {
  const char* name;    /* "v2", "ladder/grid-over-q" */
  const char* idea;    /* its one idea, in under 80 characters */
  const char* section; /* of the source document, "2.2, 4.2"; "" where it has none */
  uint32_t passes;     /* FLASHBENCH_FORWARD, FLASHBENCH_BACKWARD; forward() itself never lacks */

  /* Pure: no GPU call, no allocation; answers for any device. */
  FlashbenchStatus (*supports)(const FlashbenchProblem*, const FlashbenchDevice*,
                               FlashbenchMessage*);
  FlashbenchStatus (*cost)(const FlashbenchProblem*, const FlashbenchDevice*, uint32_t passes,
                           FlashbenchCost*, FlashbenchMessage*);

  /* workspace: cost(...).workspace_bytes bytes of device memory, 256-byte aligned, contents
   * arbitrary; null if 0. */
  FlashbenchStatus (*create)(const FlashbenchProblem*, const FlashbenchDevice*, void* workspace,
                             FlashbenchInstance*, FlashbenchMessage*);
  /* stream: a cudaStream_t; null on the CPU, where the call returns when the work is done. */
  FlashbenchStatus (*forward)(void* state, const FlashbenchForward*, void* stream,
                              FlashbenchMessage*);
  FlashbenchStatus (*backward)(void* state, const FlashbenchBackward*, void* stream,
                               FlashbenchMessage*);
  /* Optional, untimed: copies results that a library put into memory of its own into the tensors
   * asked for. */
  FlashbenchStatus (*collect)(void* state, const FlashbenchForward*, const FlashbenchBackward*,
                              void* stream, FlashbenchMessage*);
  /* Optional: what the last pass did. */
  FlashbenchStatus (*counts)(void* state, FlashbenchCounts*, FlashbenchMessage*);
  void (*destroy)(void* state);
} FlashbenchImplementation;

typedef struct FlashbenchPlugin {
  uint32_t abi; /* FLASHBENCH_ABI */
  FlashbenchBackend backend;
  uint32_t count;
  const FlashbenchImplementation* implementations;
} FlashbenchPlugin;

/* A plugin library exports this. What it points to lives as long as the library. */
FLASHBENCH_EXPORT const FlashbenchPlugin* flashbench_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
