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

// minTokenBits is the smallest entropy that maxEntropyBits must allow for the text of a token.
const minTokenBits = 128

// NewToken returns the text of a random token of 128 bits: 32 hexadecimal digits.
func NewToken() string {
	var b [minTokenBits / 8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// ParseToken derives a token from a text. It fails with errToken if the text has fewer than 6
// distinct characters, or if a random text of the same length and character set would have fewer
// than 128 bits. That is an upper bound: the entropy of a text chosen by a person is lower and
// cannot be measured.
func ParseToken(text string) (Token, error) {
	distinct := map[rune]bool{}
	for _, r := range text {
		distinct[r] = true
	}
	// Of 32 random hexadecimal digits, fewer than 6 are distinct with a probability of about 1e-10.
	const minDistinct = 6
	if bits := maxEntropyBits(text); bits < minTokenBits || len(distinct) < minDistinct {
		return Token{}, fmt.Errorf("%w: %d characters with at most %.0f bits; expected %d random bits, such as the 32 digits of "+
			"openssl rand -hex 16", errToken, len(text), bits, minTokenBits)
	}
	return Token{derive([]byte(text), nil, "token")}, nil
}

// maxEntropyBits returns the entropy of a random text of the same length in the smallest
// character set that contains text.
func maxEntropyBits(text string) float64 {
	sets := []string{"0123456789", "0123456789abcdef", "0123456789ABCDEF", "abcdefghijklmnopqrstuvwxyz",
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"}
	for _, set := range sets { // in ascending order of size
		if strings.Trim(text, set) == "" { // text has only characters of the set
			return float64(len(text)) * math.Log2(float64(len(set)))
		}
	}
	const printableASCII = 94 // without the space
	return float64(len(text)) * math.Log2(printableASCII)
}

// derive returns a key derived from a secret by HKDF-SHA256. Different purposes give independent
// keys. salt is the public data that the key is bound to; nil means none.
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

// newNonce returns a random nonce.
func newNonce() (n nonce) {
	_, _ = rand.Read(n[:]) // never fails
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

// newGCM returns the cipher of one direction of a session, fromDialer or fromListener. Key and iv
// depend on the token, the direction and everything that the peers agreed on.
func (t *Token) newGCM(c *agreement, direction string) gcm {
	salt := append(append([]byte{}, c.dialerNonce[:]...), c.listenerNonce[:]...)
	salt = append(salt, c.purpose)
	salt = binary.BigEndian.AppendUint32(salt, c.session)
	key := derive(t.secret[:], salt, direction)
	iv := derive(t.secret[:], salt, direction+" iv") // only its first gcmNonceBytes are used
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
