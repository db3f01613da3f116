package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Streams is what the commands read and write.
type Streams struct {
	In         io.Reader
	InTerminal bool // In is a terminal
	Out        io.Writer
	Err        io.Writer                                  // messages that are not the output; may be nil
	Terminal   bool                                       // Out is a terminal
	Wait       func(context.Context, time.Duration) error // between tries; nil is real time
}

// beside returns the writer of messages that are not the output.
func (s *Streams) beside() io.Writer {
	if s.Err == nil {
		return io.Discard
	}
	return s.Err
}

// agrees asks a question on the terminal and reports whether the answer is yes. It is false when ctx ends.
func (s *Streams) agrees(ctx context.Context, question string) bool {
	_, _ = fmt.Fprint(s.beside(), question+" [y/N] ")
	answer := make(chan string, 1)
	go func() { answer <- s.line() }()
	select {
	case a := <-answer:
		return a == "y" || a == "yes"
	case <-ctx.Done():
		return false
	}
}

// line reads a short line in lower case.
func (s *Streams) line() string {
	var line []byte
	for one := make([]byte, 1); len(line) < 16; { // a reader with a buffer would take the next answer too
		n, err := s.In.Read(one)
		if n == 0 || one[0] == '\n' {
			if n == 0 && err == nil {
				continue
			}
			break
		}
		line = append(line, one[0])
	}
	return strings.ToLower(strings.TrimSpace(string(line)))
}

// session is a connection of one command to a service.
type session struct {
	*client.Client
	at   string // address of the service
	out  io.Writer
	json bool
}

// reading opens the hub without a credential.
func reading(f *settings.Flags, s *Streams) (*session, error) {
	return connect(f, s, func(string) (string, error) { return "", nil })
}

// writing opens the hub with the key.
func writing(f *settings.Flags, s *Streams) (*session, error) {
	return connect(f, s, func(hub string) (string, error) { return f.Secret(hub, s.In) })
}

// connect opens the hub with the credential that secret returns for its address.
func connect(f *settings.Flags, s *Streams, secret func(hub string) (string, error)) (*session, error) {
	at, err := f.Address()
	if err != nil {
		return nil, err
	}
	key, err := secret(at)
	if err != nil {
		return nil, err
	}
	return open(f, s, at, key)
}

// public are the flags of a command that reads the hub without a credential.
type public struct{ settings.Flags }

// Provide opens the hub for Run.
func (f *public) Provide(s *Streams) (*session, error) { return reading(&f.Flags, s) }

// keyed are the flags of a command that sends the operator key to the hub.
type keyed struct{ settings.Flags }

// Provide opens the hub for Run.
func (f *keyed) Provide(s *Streams) (*session, error) { return writing(&f.Flags, s) }

// open makes a session at an address; without a secret it sends none.
func open(f *settings.Flags, s *Streams, at, secret string) (*session, error) {
	c, err := client.NewClient(at, client.WithHTTPClient(ask.NewDoer(s.Wait)), client.WithRequestEditorFn(
		func(_ context.Context, r *http.Request) error {
			r.Header.Set("Accept", "application/json")
			r.Header.Set("User-Agent", "signalcast")
			if secret != "" {
				r.Header.Set("Authorization", "Bearer "+secret)
			}
			return nil
		}))
	return &session{Client: c, at: at, out: s.Out, json: f.JSON || !f.Table && !s.Terminal}, err
}

// finish shows an answer: as JSON if s.json is set, else with table. It returns a refusal as the error, and shows its body in the
// JSON case. The answer is also decoded into the values of also.
func finish[T any](s *session, a *http.Response, err error, table func(*T) error, also ...any) error {
	raw, err := ask.Read(a, err)
	return present(s, raw, err, table, also...)
}

// present is finish for a body that Read returned.
func present[T any](s *session, raw []byte, err error, table func(*T) error, also ...any) error {
	if raw == nil {
		if r := (*ask.Refused)(nil); s.json && errors.As(err, &r) && r.Body != nil {
			return errors.Join(err, show.JSON(s.out, r.Body))
		}
		return err
	}
	for _, v := range also {
		if json.Unmarshal(raw, v) != nil {
			return errProtocol
		}
	}
	if s.json {
		return errors.Join(err, show.JSON(s.out, raw))
	}
	var v T
	if json.Unmarshal(raw, &v) != nil {
		return errors.Join(err, errProtocol)
	}
	return errors.Join(err, table(&v))
}

// answer shows what a command has made: as JSON if s.json is set, else as pairs.
func (s *session) answer(v any, pairs ...string) error {
	if s.json {
		raw, err := json.Marshal(v)
		return errors.Join(err, show.JSON(s.out, raw))
	}
	return show.Pairs(s.out, pairs...)
}

// decoded reads the answer to a request whose answer the command uses and does not show.
func decoded[T any](a *http.Response, err error) (v T, _ error) {
	raw, err := ask.Read(a, err)
	if err == nil && json.Unmarshal(raw, &v) != nil {
		err = errProtocol
	}
	return v, err
}

var errProtocol = errors.New("the answer is not of this protocol: look at --hub and --api, or use --json")

var errCount = errors.New("--count is 1 or more, or left out")

// text gives what a pointer points to, or nothing.
func text[T ~string](p *T) string {
	if p == nil {
		return ""
	}
	return string(*p)
}

// given leaves an empty text out of a request.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// above leaves a number out that was not given.
func above(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

func when(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}
