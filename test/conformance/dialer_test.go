// Package conformance dials through a running proxy server as kube-apiserver does: with the egress selector of
// k8s.io/apiserver, and with the konnectivity client itself where the selector has no such transport.
package conformance

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"k8s.io/apiserver/pkg/server/egressselector"
	"sigs.k8s.io/apiserver-network-proxy/konnectivity-client/pkg/client"
)

// patience bounds what should take milliseconds, so that a hang is a failure with a name.
const patience = 30 * time.Second

// scene is what the program that started the server says in $CONFORMANCE, as JSON.
type scene struct {
	// Egress is an EgressSelectorConfiguration file; without it the client dials Server with TLS.
	Egress string
	// HTTPConnect tells that the egress selector speaks CONNECT.
	HTTPConnect bool
	Server      string
	CA          string
	Cert        string
	Key         string
	// What is behind the tunnel. HTTP tells what the others saw; Keeps takes bytes until they end.
	HTTP        string
	SpeaksFirst string
	Ends        string
	Keeps       string
	Refused     string
	BlackHole   string
}

var (
	here scene
	dial func(ctx context.Context, network, address string) (net.Conn, error)
)

func TestMain(m *testing.M) {
	text := os.Getenv("CONFORMANCE")
	if text == "" {
		fmt.Println("$CONFORMANCE is empty: run this through npm test -- conformance")
		os.Exit(2)
	}
	err := json.Unmarshal([]byte(text), &here)
	if err == nil {
		dial, err = newDialer()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

func newDialer() (func(context.Context, string, string) (net.Conn, error), error) {
	if here.Egress == "" {
		return clientDialer()
	}
	config, err := egressselector.ReadEgressSelectorConfiguration(here.Egress)
	if err != nil {
		return nil, err
	}
	if errs := egressselector.ValidateEgressSelectorConfiguration(config); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	selector, err := egressselector.NewEgressSelector(config)
	if err != nil {
		return nil, err
	}
	return selector.Lookup(egressselector.Cluster.AsNetworkContext())
}

func clientDialer() (func(context.Context, string, string) (net.Conn, error), error) {
	pair, err := tls.LoadX509KeyPair(here.Cert, here.Key)
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(here.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		tunnel, err := client.CreateSingleUseGrpcTunnelWithContext(ctx, context.Background(), here.Server,
			grpc.WithTransportCredentials(credentials.NewTLS(config)))
		if err != nil {
			return nil, err
		}
		return tunnel.DialContext(ctx, network, address)
	}, nil
}

// httpClient makes a new tunnel for each connection; the caller closes its idle ones.
func httpClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: patience}
}

// get fetches a path of the HTTP server behind the tunnel.
func get(c *http.Client, path string) (*http.Response, []byte, error) {
	response, err := c.Get("http://" + here.HTTP + path)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

// within runs f and fails the test when it takes longer than patience.
func within(t *testing.T, what string, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	case <-time.After(patience):
		t.Fatalf("%s: no end within %v", what, patience)
	}
}
