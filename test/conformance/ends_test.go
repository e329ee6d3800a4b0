package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

const greeting = "220 I speak first\r\n"

func TestRefusedDestinationSaysSo(t *testing.T) {
	conn, err := dial(context.Background(), "tcp", here.Refused)
	if err == nil {
		conn.Close()
		t.Fatal("the dial succeeded")
	}
	// The egress selector shows a CONNECT answer's status line alone.
	want := "connection refused"
	if here.HTTPConnect {
		want = "code 502"
	}
	if !strings.Contains(err.Error(), want) {
		t.Fatalf("%q does not say %q", err, want)
	}
}

// mostly runs f fifty times. Both clients lose, or refuse, what reaches them before they have dealt with the answer to
// their dial. The server gives them 10 ms for that, which a busy machine does not always keep; with no such pause it is
// up to three of four.
func mostly(t *testing.T, f func() error) {
	t.Helper()
	lost := 0
	for range 50 {
		var err error
		within(t, "a try", func() error { err = f(); return nil })
		if err != nil {
			t.Log(err)
			lost++
		}
	}
	if lost > 10 {
		t.Fatalf("%d of 50 were lost", lost)
	}
}

// listen dials a destination that greets, and expects its greeting through read.
func listen(address string, read func(net.Conn) ([]byte, error)) error {
	conn, err := dial(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	got, err := read(conn)
	if err == nil && string(got) != greeting {
		err = fmt.Errorf("%q arrived", got)
	}
	return err
}

func TestDestinationThatSpeaksFirstIsHeard(t *testing.T) {
	mostly(t, func() error {
		return listen(here.SpeaksFirst, func(conn net.Conn) ([]byte, error) {
			got := make([]byte, len(greeting))
			_, err := io.ReadFull(conn, got)
			return got, err
		})
	})
}

func TestDestinationThatSpeaksAndEndsIsHeard(t *testing.T) {
	mostly(t, func() error {
		return listen(here.Ends, func(conn net.Conn) ([]byte, error) { return io.ReadAll(conn) })
	})
}

func TestClientThatEndsLosesNothing(t *testing.T) {
	body := noise(1 << 20)
	conn, err := dial(context.Background(), "tcp", here.Keeps)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(body); err != nil {
		t.Fatal(err)
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		if err := half.CloseWrite(); err != nil {
			t.Fatal(err)
		}
	} else {
		conn.Close()
	}
	defer conn.Close()
	c := httpClient()
	defer c.CloseIdleConnections()
	_, kept, err := get(c, "/kept")
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != sha(body) {
		t.Fatalf("the destination kept %s, sent was %s", kept, sha(body))
	}
}

func TestCancelledDialEnds(t *testing.T) {
	if here.HTTPConnect {
		t.Skip("the egress selector takes no context once it has connected; see TestDialThatHangsIsAnswered")
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := dial(ctx, "tcp", here.BlackHole)
		ended <- err
	}()
	c := httpClient()
	defer c.CloseIdleConnections()
	// The destination answers when the agent is dialling the black hole.
	if _, _, err := get(c, "/dialled?yes"); err != nil {
		t.Fatal(err)
	}
	cancel()
	within(t, "the cancelled dial", func() error {
		if err := <-ended; err == nil {
			return errors.New("it succeeded")
		}
		return nil
	})
	// The destination answers when the agent has given it up.
	if _, _, err := get(c, "/dialled?no"); err != nil {
		t.Fatalf("the agent still dials: %v", err)
	}
}

func TestDialThatHangsIsAnswered(t *testing.T) {
	want := "i/o timeout"
	if here.HTTPConnect {
		want = "code 504"
	}
	within(t, "the dial", func() error {
		conn, err := dial(context.Background(), "tcp", here.BlackHole)
		if err == nil {
			conn.Close()
			return errors.New("it succeeded")
		}
		if !strings.Contains(err.Error(), want) {
			return fmt.Errorf("%q does not say %q", err, want)
		}
		return nil
	})
}
