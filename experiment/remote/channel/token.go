package channel

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Token is the secret that both ends share.
type Token struct{ secret [32]byte }

// errToken: a token that can be guessed.
var errToken = errors.New("the token is too easy to guess")

// tokenBits is the least that a token must have room for.
const tokenBits = 128

// NewToken returns the text of a token that nobody can guess.
func NewToken() string {
	var b [tokenBits / 8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// ParseToken makes a token of its text. ErrToken if no text of that length and those
// kinds of letters has 128 bits. That is an upper bound: words that a person thought up
// have less, and nothing can tell.
func ParseToken(text string) (Token, error) {
	letters := map[rune]bool{}
	for _, r := range text {
		letters[r] = true
	}
	const fewLetters = 6 // 32 random hexadecimal digits have more, but once in ten thousand million times
	if bits := roomBits(text); bits < tokenBits || len(letters) < fewLetters {
		return Token{}, fmt.Errorf("%w: it has %d letters, room for %.0f bits; expected %d random bits, such as the 32 digits of "+
			"openssl rand -hex 16", errToken, len(text), bits, tokenBits)
	}
	return Token{derive([]byte(text), nil, "token")}, nil
}

// roomBits returns how many bits as many random letters of the same kinds would have.
func roomBits(text string) float64 {
	kinds := []string{"0123456789", "0123456789abcdef", "0123456789ABCDEF", "abcdefghijklmnopqrstuvwxyz",
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"}
	for _, kind := range kinds {
		if strings.Trim(text, kind) == "" {
			return float64(len(text)) * math.Log2(float64(len(kind)))
		}
	}
	return float64(len(text)) * math.Log2(94)
}

// derive is HKDF; the purpose of a key keeps it apart from all others.
func derive(secret, salt []byte, purpose string) (key [32]byte) {
	b, err := hkdf.Key(sha256.New, secret, salt, "wirelab channel 1 "+purpose, len(key))
	if err != nil {
		panic("channel: HKDF refuses a key of 32 bytes: " + err.Error())
	}
	return [32]byte(b)
}

// nonceBytes is the size of what each end adds to the token so that keys are fresh.
const nonceBytes = 16

type nonce [nonceBytes]byte

func newNonce() (n nonce) {
	_, _ = rand.Read(n[:])
	return n
}

// contract is what both ends agreed on: keys follow from it and from the token.
type contract struct {
	dialer, listener nonce
	purpose          uint8
	session          uint32
}

// The two directions, by whose end they begin at.
const (
	fromDialer   = "from dialer"
	fromListener = "from listener"
)

// cipherOf returns the cipher of one direction.
func (t *Token) cipherOf(c *contract, direction string) gcm {
	salt := append(append([]byte{}, c.dialer[:]...), c.listener[:]...)
	bound := binary.BigEndian.AppendUint32([]byte{c.purpose}, c.session)
	key := derive(t.secret[:], append(salt, bound...), direction)
	iv := derive(t.secret[:], append(salt, bound...), direction+" iv")
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("channel: AES refuses a key of 32 bytes: " + err.Error())
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("channel: GCM refuses AES: " + err.Error())
	}
	g := gcm{aead: aead, iv: new([gcmNonce]byte), nonce: new([gcmNonce]byte)}
	copy(g.iv[:], iv[:])
	return g
}
