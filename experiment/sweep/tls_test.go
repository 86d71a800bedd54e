package sweep

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"testing"
)

// A server with a certificate of a private authority accepts clients that trust the authority, with
// either URL scheme, and refuses clients that do not, and connections without TLS.
func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	pool := x509.NewCertPool()
	pool.AddCert(web.Certificate())
	s := must(Serve("127.0.0.1:0", "secret", &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}))
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
	plain := must(Serve("127.0.0.1:0", "secret", nil))
	defer plain.Close()
	for _, o := range []QueueOptions{{URL: "tls://secret@" + plain.Addr()}, {URL: "nats://secret@" + plain.Addr(), TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}} {
		if q, err := OpenQueue(t.Context(), o); err == nil {
			q.Close()
			t.Errorf("%s: the token went to a server without TLS", o.URL)
		}
	}
}
