package sweep

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"
)

// authority creates a certificate authority and a certificate for this machine signed by it.
func authority(t *testing.T) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	make := func(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if signer == nil {
			parent, signer = template, key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return c, key
	}
	soon, name := time.Now().Add(time.Hour), pkix.Name{CommonName: "test"}
	ca, caKey := make(&x509.Certificate{SerialNumber: big.NewInt(1), Subject: name, NotAfter: soon, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	leaf, key := make(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: name, NotAfter: soon, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, ca, caKey)
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	return pool, tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}
}

// A server with a certificate of a private authority accepts clients that trust the authority, with
// either URL scheme, and refuses clients that do not, and connections without TLS.
func TestTLS(t *testing.T) {
	pool, cert := authority(t)
	s, err := Serve("127.0.0.1:0", "secret", &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	q, err := s.Open(t.Context())
	if err != nil {
		t.Fatal("from within the process:", err)
	}
	defer q.Close()
	for _, scheme := range []string{"tls", "nats"} {
		q, err := OpenQueue(t.Context(), QueueOptions{URL: scheme + "://secret@" + s.Addr(), TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}})
		if err != nil {
			t.Fatal(scheme, err)
		}
		if state, err := q.conn.TLSConnectionState(); err != nil || !state.HandshakeComplete {
			t.Error(scheme, "is not TLS:", err)
		}
		q.Close()
		var unknown x509.UnknownAuthorityError
		if _, err := OpenQueue(t.Context(), QueueOptions{URL: scheme + "://secret@" + s.Addr()}); !errors.As(err, &unknown) {
			t.Errorf("%s with a server of an unknown authority: %v", scheme, err)
		}
	}
	plain, err := Serve("127.0.0.1:0", "secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for _, o := range []QueueOptions{{URL: "tls://secret@" + plain.Addr()}, {URL: "nats://secret@" + plain.Addr(), TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}} {
		if q, err := OpenQueue(t.Context(), o); err == nil {
			q.Close()
			t.Errorf("%s: the token went to a server without TLS", o.URL)
		}
	}
}
