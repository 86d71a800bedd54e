//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// LOAD inserts counter k of x.index into lane k of X0, and its logit into lane k of X1.
#define LOAD(k) \
	MOVL (Mixer_index+4*k)(DI), AX; \
	MOVWLZX (BX)(AX*2), AX; \
	VPINSRW $k, AX, X0, X0; \
	SHRL $4, AX; \
	VPINSRW $k, (R8)(AX*2), X1, X1

// STORE stores lane k of X2 at counter k of x.index.
#define STORE(k) \
	MOVL (Mixer_index+4*k)(DI), AX; \
	VPEXTRW $k, X2, (BX)(AX*2)

// LOOKUP sets lanes of out to the entries of a table, whose lower and upper bytes are at low and high, that the lanes
// of X3 select. The upper bytes of X3 are 0x80, which selects 0.
#define LOOKUP(low, high, out, temp) \
	VMOVDQU low, out; \
	VMOVDQU high, temp; \
	VPSHUFB X3, out, out; \
	VPSHUFB X3, temp, temp; \
	VPSLLW $8, temp, temp; \
	VPOR temp, out, out

// func mixAVX2(x *Mixer, counters *StateCounter, w *mixerWeights, bit int, rate int32, random uint32) int
//
// Lanes have 16 bits, one for each input.
TEXT ·mixAVX2(SB), NOSPLIT, $0-48
	MOVQ x+0(FP), DI
	MOVQ counters+8(FP), BX
	MOVQ w+16(FP), SI
	LEAQ ·stretchUpper(SB), R8
	VPXOR X0, X0, X0
	VPXOR X1, X1, X1
	LOAD(0)
	LOAD(1)
	LOAD(2)
	LOAD(3)
	LOAD(4)
	LOAD(5)

	// X3 = the states, for LOOKUP. X1 = the inputs: the logits times the confidences.
	VPCMPEQW X5, X5, X5
	VPSRLW $12, X5, X6       // 15
	VPSLLW $15, X5, X7       // 0x8000
	VPAND X6, X0, X4         // states
	VPOR X7, X4, X3
	VMOVDQU ·confidenceBytes(SB), X2
	VPSHUFB X3, X2, X2
	VPSLLW $7, X2, X2
	VPMULHRSW X2, X1, X1
	MOVL $const_biasLogit, AX
	VPINSRW $6, AX, X1, X1

	// AX = the probability.
	VMOVDQU (SI), X8         // weights
	VPMADDWD X8, X1, X2
	VPSRAD $2, X2, X2
	VPSHUFD $0x4E, X2, X9
	VPADDD X9, X2, X2
	VPSHUFD $0xB1, X2, X9
	VPADDD X9, X2, X2
	VMOVD X2, AX
	SARL $11, AX
	CMPL AX, $const_squashMax
	JLE low
	MOVL $const_squashMax, AX
low:
	CMPL AX, $const_squashMin
	JGE high
	MOVL $const_squashMin, AX
high:
	ADDL $const_squashSpan, AX
	MOVL AX, CX
	SHRL $5, AX
	ANDL $31, CX
	LEAQ ·squashTable(SB), R9
	MOVL (R9)(AX*4), DX
	MOVL 4(R9)(AX*4), R10
	SUBL DX, R10
	IMULL CX, R10
	ADDL $16, R10
	SHRL $5, R10
	LEAL 8(DX)(R10*1), AX
	SHRL $4, AX

	// Code the decision. DX is the bit to write, or becomes the bit read.
	MOVQ Mixer_Coder(DI), R12
	MOVQ bit+24(FP), DX
	MOVL Coder_rng(R12), R13
	MOVL AX, CX
	IMULQ R13, CX
	SHRQ $16, CX
	SUBL CX, R13
	CMPB Coder_reading(R12), $0
	JNE read
	XORL R11, R11
	TESTQ DX, DX
	CMOVLNE CX, R13
	CMOVLNE R11, CX
	ADDQ CX, Coder_low(R12)
	JMP decided
read:
	MOVL Coder_code(R12), R11
	CMPL R11, CX
	CMOVLCS CX, R13
	SBBL DX, DX
	SUBL CX, R11
	ANDL DX, CX
	ADDL CX, R11
	NEGL DX
	MOVL R11, Coder_code(R12)
decided:
	MOVL R13, Coder_rng(R12)
	MOVQ DX, ret+40(FP)

	// Move the weights X8 by the inputs times the scaled error, rounded stochastically.
	MOVL DX, R10
	SHLL $16, R10
	SUBL AX, R10
	IMULL rate+32(FP), R10
	SARL $12, R10
	VMOVD R10, X9
	VPBROADCASTD X9, Y9
	MOVL random+36(FP), R11
	MOVL R11, CX
	SHRL $14, CX
	VMOVD CX, X10
	VPBROADCASTD X10, Y10
	VPMOVSXWD X1, Y1
	VPMULLD Y9, Y1, Y1
	VPADDD Y10, Y1, Y1
	VPSRAD $18, Y1, Y1
	VEXTRACTI128 $1, Y1, X9
	VPACKSSDW X9, X1, X1
	VPADDSW X8, X1, X1
	VMOVDQU X1, (SI)

	// Update the counters X0, whose states are X4. X10 = pseudo-random numbers.
	SHRL $16, R11
	VMOVD R11, X10
	VPBROADCASTW X10, X10
	VPMULLW ·laneFactors(SB), X10, X10
	LOOKUP(·rateBytes(SB), ·rateBytes+16(SB), X9, X11)
	NEGL DX
	VMOVD DX, X2
	VPBROADCASTW X2, X2
	VPSRLW $4, X2, X2        // 4095 or 0
	VPSRLW $4, X0, X0        // probabilities
	VPSUBW X0, X2, X2
	VPADDW X2, X2, X2
	VPMULHW X9, X2, X6
	VPMULLW X9, X2, X7
	VPXOR X5, X7, X7         // 65535 minus the lower half of the product
	VPMINUW X10, X7, X7
	VPCMPEQW X10, X7, X7     // all ones unless the addition of X10 carries
	VPADDW X6, X0, X0
	VPADDW X7, X0, X0
	VPSUBW X5, X0, X0        // adds 1
	LOOKUP(Mixer_advances(DI), (Mixer_advances+16)(DI), X9, X11)
	VPMINUW X9, X10, X6
	VPCMPEQW X9, X6, X6      // all ones unless the random number is below the entry
	VPADDW X6, X4, X4
	VPSUBW X5, X4, X4        // adds 1
	VPSLLW $4, X0, X2
	VPOR X4, X2, X2
	STORE(0)
	STORE(1)
	STORE(2)
	STORE(3)
	STORE(4)
	STORE(5)
	VZEROUPPER
	RET
