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

// Token is the secret that both peers share. The zero Token is not valid.
type Token struct{ secret [32]byte }

// errToken means that a token may be guessed.
var errToken = errors.New("the token is too easy to guess")

// minTokenBits is the smallest entropy that a token must be able to have.
const minTokenBits = 128

// NewToken returns the text of a random token of 128 bits: 32 hexadecimal digits.
func NewToken() string {
	var b [minTokenBits / 8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// ParseToken returns the token of a text. It fails with errToken if a random text of the same
// length and character set would have fewer than 128 bits. That is an upper bound: the entropy of
// a text chosen by a person is lower and cannot be measured.
func ParseToken(text string) (Token, error) {
	letters := map[rune]bool{}
	for _, r := range text {
		letters[r] = true
	}
	// 32 random hexadecimal digits have fewer than 6 different ones with a probability of about 1e-10.
	const fewLetters = 6
	if bits := maxEntropyBits(text); bits < minTokenBits || len(letters) < fewLetters {
		return Token{}, fmt.Errorf("%w: %d characters with at most %.0f bits; expected %d random bits, such as the 32 digits of "+
			"openssl rand -hex 16", errToken, len(text), bits, minTokenBits)
	}
	return Token{derive([]byte(text), nil, "token")}, nil
}

// maxEntropyBits returns the entropy of a random text of the same length in the smallest
// character set that contains text.
func maxEntropyBits(text string) float64 {
	kinds := []string{"0123456789", "0123456789abcdef", "0123456789ABCDEF", "abcdefghijklmnopqrstuvwxyz",
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"}
	for _, kind := range kinds {
		if strings.Trim(text, kind) == "" {
			return float64(len(text)) * math.Log2(float64(len(kind)))
		}
	}
	return float64(len(text)) * math.Log2(94)
}

// derive returns a key derived by HKDF-SHA256. Different purposes give independent keys.
func derive(secret, salt []byte, purpose string) (key [32]byte) {
	b, err := hkdf.Key(sha256.New, secret, salt, "wirelab channel 1 "+purpose, len(key))
	if err != nil {
		panic("channel: HKDF refuses a key of 32 bytes: " + err.Error())
	}
	return [32]byte(b)
}

// nonceBytes is the size of the random value that each peer contributes to the keys of a session.
const nonceBytes = 16

// nonce is a random value for one handshake.
type nonce [nonceBytes]byte

func newNonce() (n nonce) {
	_, _ = rand.Read(n[:])
	return n
}

// agreement is what both peers agreed on in a handshake. The session keys are derived from it and
// the token.
type agreement struct {
	dialerNonce, listenerNonce nonce
	purpose                    uint8
	session                    uint32
}

// Directions, as used in key derivation.
const (
	fromDialer   = "from dialer"
	fromListener = "from listener"
)

// newGCM returns the cipher of one direction of a session.
func (t *Token) newGCM(c *agreement, direction string) gcm {
	salt := append(append([]byte{}, c.dialerNonce[:]...), c.listenerNonce[:]...)
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
	g := gcm{aead: aead, iv: new([gcmNonceBytes]byte), nonce: new([gcmNonceBytes]byte)}
	copy(g.iv[:], iv[:])
	return g
}
