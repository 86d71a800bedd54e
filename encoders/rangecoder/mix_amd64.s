//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// Constants of Stretch and of Counter.Update, repeated for four lanes of 32 bits.
DATA mixOne<>+0(SB)/8, $0x0001000000010000 // One
DATA mixOne<>+8(SB)/8, $0x0001000000010000
GLOBL mixOne<>(SB), RODATA|NOPTR, $16
DATA mixHalf<>+0(SB)/8, $0x0000800000008000 // One/2
DATA mixHalf<>+8(SB)/8, $0x0000800000008000
GLOBL mixHalf<>(SB), RODATA|NOPTR, $16
DATA mixFrom<>+0(SB)/8, $0x0000100000001000 // coarseStart
DATA mixFrom<>+8(SB)/8, $0x0000100000001000
GLOBL mixFrom<>(SB), RODATA|NOPTR, $16
DATA mixCoarse<>+0(SB)/8, $0x00000F0000000F00 // coarseStart - coarseStart/coarseStep
DATA mixCoarse<>+8(SB)/8, $0x00000F0000000F00
GLOBL mixCoarse<>(SB), RODATA|NOPTR, $16
DATA mixCount<>+0(SB)/8, $0x000003FF000003FF // maxCount
DATA mixCount<>+8(SB)/8, $0x000003FF000003FF
GLOBL mixCount<>(SB), RODATA|NOPTR, $16
DATA mixLeast<>+0(SB)/8, $0x0000004000000040 // fineScale
DATA mixLeast<>+8(SB)/8, $0x0000004000000040
GLOBL mixLeast<>(SB), RODATA|NOPTR, $16
DATA mixMost<>+0(SB)/8, $0x003FFFC0003FFFC0 // fineOne - fineScale
DATA mixMost<>+8(SB)/8, $0x003FFFC0003FFFC0
GLOBL mixMost<>(SB), RODATA|NOPTR, $16
DATA mixNone<>+0(SB)/4, $0x80000000 // NewCounter(One/2, 0)
GLOBL mixNone<>(SB), RODATA|NOPTR, $4

// SQUASH computes Squash of the sum in AX, with the result in AX. It uses CX, DX, R13 and R15.
#define SQUASH \
	SARQ $16, AX; \
	CMPL AX, $const_squashMax; \
	JLE low; \
	MOVL $const_squashMax, AX; \
low: \
	CMPL AX, $const_squashMin; \
	JGE high; \
	MOVL $const_squashMin, AX; \
high: \
	ADDL $const_squashSpan, AX; \
	MOVL AX, CX; \
	SHRL $5, AX; \
	ANDL $31, CX; \
	LEAQ ·squashTable(SB), R15; \
	MOVL (R15)(AX*4), DX; \
	MOVL 4(R15)(AX*4), R13; \
	SUBL DX, R13; \
	IMULL CX, R13; \
	ADDL $16, R13; \
	SHRL $5, R13; \
	LEAL 8(DX)(R13*1), AX; \
	SHRL $4, AX

// DECIDE codes a decision of probability AX with the coder at R12, without renormalising. DX is
// the bit to write, or becomes the bit read. It uses CX, R13 and R15.
#define DECIDE \
	MOVL Coder_rng(R12), R13; \
	MOVL AX, CX; \
	IMULQ R13, CX; \
	SHRQ $16, CX; \
	SUBL CX, R13; \
	CMPB Coder_reading(R12), $0; \
	JNE read; \
	XORL R15, R15; \
	TESTQ DX, DX; \
	CMOVLNE CX, R13; \
	CMOVLNE R15, CX; \
	ADDQ CX, Coder_low(R12); \
	JMP decided; \
read: \
	MOVL Coder_code(R12), R15; \
	CMPL R15, CX; \
	CMOVLCS CX, R13; \
	SBBL DX, DX; \
	SUBL CX, R15; \
	ANDL DX, CX; \
	ADDL CX, R15; \
	NEGL DX; \
	MOVL R15, Coder_code(R12); \
decided: \
	MOVL R13, Coder_rng(R12)

// LEARN updates the weights Y2 after DECIDE and stores them at SI, as codeScalar does. Y1 and Y4
// are the even and odd inputs times the rate. Products have 64 bits; of each, rounded and shifted
// right by 27, the lower 32 bits are used. Weights are limited to +-maxWeight, 1<<22.
#define LEARN \
	MOVL DX, R13; \
	SHLL $16, R13; \
	SUBL AX, R13; \
	VMOVD R13, X3; \
	VPBROADCASTD X3, Y3; \
	VPCMPEQD Y5, Y5, Y5; \
	VPSRLD $31, Y5, Y6; \
	VPSLLD $22, Y6, Y6; \
	VPSRLQ $63, Y5, Y5; \
	VPSLLQ $26, Y5, Y5; \
	VPMULDQ Y3, Y1, Y1; \
	VPMULDQ Y3, Y4, Y4; \
	VPADDQ Y5, Y1, Y1; \
	VPADDQ Y5, Y4, Y4; \
	VPSRLQ $27, Y1, Y1; \
	VPSLLQ $5, Y4, Y4; \
	VPBLENDD $0xAA, Y4, Y1, Y1; \
	VPADDD Y1, Y2, Y2; \
	VPMINSD Y6, Y2, Y2; \
	VPXOR Y7, Y7, Y7; \
	VPSUBD Y6, Y7, Y7; \
	VPMAXSD Y7, Y2, Y2; \
	VMOVDQU Y2, (SI)

// func mixAVX2(x *Mixer, w *Weights, salt uint32, bit int, extra uint64) int
//
// The inputs stay in registers: a vector load from memory that was just written in parts would
// stall until all parts are in the cache (a failed store-to-load forwarding).
TEXT ·mixAVX2(SB), NOSPLIT, $0-48
	MOVQ x+0(FP), DI
	MOVQ w+8(FP), SI
	MOVL salt+16(FP), AX

	// X0 = the counters with indices R8 to R11.
	MOVQ Mixer_Counters(DI), BX
	MOVL (Mixer_Counters+8)(DI), DX
	DECL DX
	MOVL (Mixer_contexts+contexts_Hashes+0)(DI), R8
	MOVL (Mixer_contexts+contexts_Hashes+4)(DI), R9
	MOVL (Mixer_contexts+contexts_Hashes+8)(DI), R10
	MOVL (Mixer_contexts+contexts_Hashes+12)(DI), R11
	ADDL AX, R8
	ADDL AX, R9
	ADDL AX, R10
	ADDL AX, R11
	ANDL DX, R8
	ANDL DX, R9
	ANDL DX, R10
	ANDL DX, R11
	CMPL R8, R9
	JEQ shared
	CMPL R8, R10
	JEQ shared
	CMPL R9, R10
	JEQ shared
	VMOVD (BX)(R8*4), X0
	VPINSRD $1, (BX)(R9*4), X0, X0
	VPINSRD $2, (BX)(R10*4), X0, X0
	CMPQ (Mixer_contexts+contexts_N)(DI), $4
	JNE three
	CMPL R8, R11
	JEQ shared
	CMPL R9, R11
	JEQ shared
	CMPL R10, R11
	JEQ shared
	VPINSRD $3, (BX)(R11*4), X0, X0
	XORL R12, R12            // the fourth input, if there are three contexts
	JMP stretch

three:
	VPINSRD $3, mixNone<>(SB), X0, X0
	MOVL Mixer_Bias(DI), R12

stretch:
	VPSRLD $16, X0, X1
	VMOVDQU mixOne<>(SB), X2
	VPSUBD X1, X2, X2
	VPCMPGTD mixHalf<>(SB), X1, X3 // all ones above one half
	VPMINSD X2, X1, X1
	VPSRLD $4, X1, X2
	VPADDD mixCoarse<>(SB), X2, X2
	VMOVDQU mixFrom<>(SB), X4
	VPCMPGTD X1, X4, X4
	VPBLENDVB X4, X1, X2, X1
	VMOVQ X1, AX
	VPEXTRQ $1, X1, CX
	MOVL AX, DX
	MOVL CX, R13
	SHRQ $32, AX
	SHRQ $32, CX
	LEAQ ·stretchTable(SB), R15
	MOVWLSX (R15)(DX*2), DX
	VMOVD DX, X1
	VPINSRW $2, (R15)(AX*2), X1, X1
	VPINSRW $4, (R15)(R13*2), X1, X1
	VPINSRW $6, (R15)(CX*2), X1, X1
	VPSLLD $16, X1, X1
	VPSRAD $16, X1, X1
	VPXOR X3, X1, X1
	VPSUBD X3, X1, X1
	VMOVD R12, X2
	VPSLLDQ $12, X2, X2
	VPOR X2, X1, X1
	VMOVQ extra+32(FP), X2
	VINSERTI128 $1, X2, Y1, Y1

	// The sum. Y1 and Y4 are the even and odd inputs.
	VMOVDQU (SI), Y2
	VPSRLQ $32, Y1, Y4
	VPSRLQ $32, Y2, Y5
	VPMULDQ Y1, Y2, Y3
	VPMULDQ Y4, Y5, Y5
	VPBROADCASTD Mixer_Rate(DI), Y6
	VPADDQ Y5, Y3, Y3
	VEXTRACTI128 $1, Y3, X5
	VPADDQ X5, X3, X3
	VPSHUFD $0x4E, X3, X5
	VPADDQ X5, X3, X3
	VMOVQ X3, AX
	VPMULLD Y6, Y1, Y1
	VPSRLQ $32, Y1, Y4
	SQUASH
	MOVQ Mixer_Coder(DI), R12
	MOVQ bit+24(FP), DX
	DECIDE
	MOVQ DX, ret+40(FP)
	LEARN

	// Update the counters. X2 = their probabilities, X3 = their numbers of updates.
	NEGL DX
	VMOVD DX, X1
	VPBROADCASTD X1, X1      // all ones or zero
	VPSRLD $10, X0, X2
	VPAND mixCount<>(SB), X0, X3
	VPSRLD $31, X1, X4
	VPSLLD $22, X4, X4
	VPSUBD X2, X4, X4        // distance to the bit
	VMOVQ X3, AX
	VPEXTRQ $1, X3, CX
	MOVL AX, DX
	MOVL CX, R13
	SHRQ $32, AX
	SHRQ $32, CX
	LEAQ ·adaptationRates(SB), R15
	VMOVD (R15)(DX*4), X5    // even lanes
	VPINSRD $2, (R15)(R13*4), X5, X5
	VMOVD (R15)(AX*4), X6    // odd lanes
	VPINSRD $2, (R15)(CX*4), X6, X6
	VPMULDQ X5, X4, X5
	VPSRLQ $32, X4, X4
	VPMULDQ X6, X4, X6
	VPSRLQ $48, X1, X7       // One-1 or zero
	VPADDQ X7, X5, X5
	VPADDQ X7, X6, X6
	VPSRLQ $16, X5, X5
	VPSLLQ $16, X6, X6       // shift right by 16, left by 32
	VPBLENDD $0x0A, X6, X5, X5
	VPADDD X5, X2, X2
	VPMAXSD mixLeast<>(SB), X2, X2
	VPMINSD mixMost<>(SB), X2, X2
	VPBROADCASTD Mixer_Limit(DI), X4
	VPCMPGTD X3, X4, X4
	VPSUBD X4, X3, X3        // adds 1 below the limit
	VPSLLD $10, X2, X2
	VPOR X3, X2, X2
	VMOVD X2, (BX)(R8*4)
	VPEXTRD $1, X2, (BX)(R9*4)
	VPEXTRD $2, X2, (BX)(R10*4)
	CMPQ (Mixer_contexts+contexts_N)(DI), $4
	JNE done
	VPEXTRD $3, X2, (BX)(R11*4)

done:
	VZEROUPPER
	RET

shared:
	MOVQ $-1, ret+40(FP)
	VZEROUPPER
	RET

// func codeAVX2(w *Weights, c *Coder, in *Inputs, bit int, rate int32) int
//
// Inputs were just written one by one, so they are also read one by one: a vector load would stall
// until all of them are in the cache.
TEXT ·codeAVX2(SB), NOSPLIT, $0-48
	MOVQ w+0(FP), SI
	MOVQ c+8(FP), R12
	MOVQ in+16(FP), BX
	VMOVD (BX), X1
	VPINSRD $1, 4(BX), X1, X1
	VPINSRD $2, 8(BX), X1, X1
	VPINSRD $3, 12(BX), X1, X1
	VMOVD 16(BX), X2
	VPINSRD $1, 20(BX), X2, X2
	VPINSRD $2, 24(BX), X2, X2
	VPINSRD $3, 28(BX), X2, X2
	VINSERTI128 $1, X2, Y1, Y1
	MOVL rate+32(FP), AX
	VMOVD AX, X6
	VPBROADCASTD X6, Y6
	VPMULLD Y6, Y1, Y1
	VPSRLQ $32, Y1, Y4

	// The sum. Adding whole registers shortens the path from the weights to the probability.
	MOVLQSX (BX), AX
	MOVLQSX (SI), R8
	IMULQ R8, AX
	MOVLQSX 4(BX), CX
	MOVLQSX 4(SI), R9
	IMULQ R9, CX
	MOVLQSX 8(BX), DX
	MOVLQSX 8(SI), R8
	IMULQ R8, DX
	MOVLQSX 12(BX), R13
	MOVLQSX 12(SI), R9
	IMULQ R9, R13
	ADDQ CX, AX
	ADDQ R13, DX
	MOVLQSX 16(BX), CX
	MOVLQSX 16(SI), R8
	IMULQ R8, CX
	MOVLQSX 20(BX), R13
	MOVLQSX 20(SI), R9
	IMULQ R9, R13
	ADDQ CX, AX
	ADDQ R13, DX
	MOVLQSX 24(BX), CX
	MOVLQSX 24(SI), R8
	IMULQ R8, CX
	MOVLQSX 28(BX), R13
	MOVLQSX 28(SI), R9
	IMULQ R9, R13
	ADDQ CX, AX
	ADDQ R13, DX
	ADDQ DX, AX
	VMOVDQU (SI), Y2
	SQUASH
	MOVQ bit+24(FP), DX
	DECIDE
	MOVQ DX, ret+40(FP)
	LEARN
	VZEROUPPER
	RET

// func learnAVX2(weights *[maxStateInputs]int16, in *[maxStateInputs]int32, groups int, errScaled int32, rnd uint32)
//
// Products have 64 bits: first those of even inputs, then of odd inputs. Of each, rounded and
// shifted right by 30, the lower 32 bits are used.
TEXT ·learnAVX2(SB), NOSPLIT, $0-32
	MOVQ weights+0(FP), DI
	MOVQ in+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVL errScaled+24(FP), AX
	MOVL rnd+28(FP), BX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
	VMOVQ BX, X1
	VPBROADCASTQ X1, Y1

group:
	VMOVDQU (SI), Y2
	VPMULDQ Y0, Y2, Y3
	VPSRLQ $32, Y2, Y2
	VPMULDQ Y0, Y2, Y2
	VPADDQ Y1, Y3, Y3
	VPADDQ Y1, Y2, Y2
	VPSRLQ $30, Y3, Y3
	VPSLLQ $2, Y2, Y2        // shift right by 30, left by 32
	VPBLENDD $0xAA, Y2, Y3, Y3
	VPMOVSXWD (DI), Y2
	VPADDD Y3, Y2, Y2
	VEXTRACTI128 $1, Y2, X3
	VPACKSSDW X3, X2, X2
	VMOVDQU X2, (DI)
	ADDQ $32, SI
	ADDQ $16, DI
	DECQ CX
	JNZ group
	VZEROUPPER
	RET
