package conformance

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand"
	"testing"
)

func sha(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// noise is n bytes that do not repeat in any frame size.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(int64(n))).Read(b)
	return b
}

func TestUploadArrivesWhole(t *testing.T) {
	c := httpClient()
	defer c.CloseIdleConnections()
	body := noise(8 << 20)
	response, err := c.Post("http://"+here.HTTP+"/sha256", "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(answer); got != sha(body) {
		t.Fatalf("the destination read %s, sent was %s", got, sha(body))
	}
}

func TestDownloadArrivesWhole(t *testing.T) {
	c := httpClient()
	defer c.CloseIdleConnections()
	response, body, err := get(c, "/download?bytes=10485760")
	if err != nil {
		t.Fatal(err)
	}
	if len(body) != 10<<20 || sha(body) != response.Header.Get("X-Sha256") {
		t.Fatalf("%d bytes with SHA-256 %s arrived, the destination sent %s", len(body), sha(body), response.Header.Get("X-Sha256"))
	}
}

func TestFiftyDialsAtOnceEachReachTheirOwn(t *testing.T) {
	errs := make(chan error, 50)
	for i := range 50 {
		go func() {
			c := httpClient()
			defer c.CloseIdleConnections()
			_, body, err := get(c, fmt.Sprintf("/echo?%d", i))
			if err == nil && string(body) != fmt.Sprintf("/echo?%d", i) {
				err = fmt.Errorf("request %d got %q", i, body)
			}
			errs <- err
		}()
	}
	for range 50 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
