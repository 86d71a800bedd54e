package remote

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Token lets a dialer recognise a listener and prove that it may open sessions there.
type Token struct {
	certificate [sha256.Size]byte // hash of the listener's certificate
	secret      [16]byte
}

// String returns the text of the token: 64 characters of URL-safe base64.
func (t *Token) String() string {
	return base64.RawURLEncoding.EncodeToString(append(t.certificate[:], t.secret[:]...))
}

// errToken means that a text is not a token. Its message does not repeat the text.
var errToken = errors.New("it is not a token; expected the 64 characters that tui listen prints")

// ParseToken parses the text of a token.
func ParseToken(text string) (*Token, error) {
	t := &Token{}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != len(t.certificate)+len(t.secret) {
		return nil, errToken
	}
	copy(t.secret[:], b[copy(t.certificate[:], b):])
	return t, nil
}

// proof returns what proves the knowledge of the token's secret within one TLS connection. It contains keying
// material of that connection, so it is useless in another one.
func (t *Token) proof(c *tls.Conn, purpose Purpose) []byte {
	mac := hmac.New(sha256.New, t.secret[:])
	mac.Write(export(c, proofLabel, keyBytes))
	mac.Write([]byte{byte(purpose)})
	return mac.Sum(nil)
}

// Identity is the certificate of a listener with its private key, and the token of its dialers.
type Identity struct {
	certificate tls.Certificate
	token       Token
}

// Token returns the token that dialers need.
func (id *Identity) Token() *Token { return &id.token }

// NewIdentity returns a new random identity.
func NewIdentity() (*Identity, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	// Dialers check the hash of the certificate and nothing else in it.
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1<<32, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return nil, err
	}
	id := &Identity{certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}}
	id.token.certificate = sha256.Sum256(der)
	_, _ = rand.Read(id.token.secret[:]) // never fails
	return id, nil
}

// Encode returns the text of a file with the identity: the token in the first line, then the certificate and
// the private key in PEM.
func (id *Identity) Encode() ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(id.certificate.PrivateKey)
	if err != nil {
		return nil, err
	}
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: id.certificate.Certificate[0]})
	b = append(b, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	return append([]byte(id.token.String()+"\n"), b...), nil
}

// ParseIdentity parses the text of a file that Encode wrote.
func ParseIdentity(text []byte) (*Identity, error) {
	line, _, _ := strings.Cut(string(text), "\n")
	token, err := ParseToken(strings.TrimSpace(line))
	if err != nil {
		return nil, fmt.Errorf("its first line: %w", err)
	}
	certificate, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, fmt.Errorf("it has no certificate with its private key: %w; expected a file that tui listen wrote", err)
	}
	if sha256.Sum256(certificate.Certificate[0]) != token.certificate {
		return nil, errors.New("its token belongs to another certificate; expected a file that tui listen wrote")
	}
	return &Identity{certificate, *token}, nil
}

// checkCertificate returns an error unless the certificate of a TLS connection is that of the token.
func (t *Token) checkCertificate(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 || sha256.Sum256(state.PeerCertificates[0].Raw) != t.certificate {
		return errors.New("the listener has another certificate than the token names")
	}
	if state.NegotiatedProtocol != protocol {
		return errors.New("the listener has another version")
	}
	return nil
}
