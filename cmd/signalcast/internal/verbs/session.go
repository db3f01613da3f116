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

// Streams contains the input and output streams of a command, and the flags that all commands have.
type Streams struct {
	In         io.Reader
	InTerminal bool // In is a terminal
	Out        io.Writer
	Err        io.Writer                                  // progress and questions; may be nil
	Terminal   bool                                       // Out is a terminal
	Width      int                                        // width of the terminal in characters; 0 means no limit
	Color      bool                                       // write colors
	Wait       func(context.Context, time.Duration) error // waits between attempts; nil means dbtime.Sleep

	ReadHidden func(context.Context) (string, error) // reads a line from the terminal without showing it
	Browse     func(address string) bool             // opens a browser; false if there is none

	show.Format
	Timeout time.Duration // time limit of a request with its repetitions; 0 means ask.DefaultTimeout
}

// Output returns the destination of the results of the command.
func (s *Streams) Output() *show.Output {
	return &show.Output{Writer: s.Out, Format: s.Format, Width: s.Width, Color: s.Color}
}

// AsJSON reports whether the command prints JSON: by a flag, or because its output is not a terminal and no flag selects a table.
func (s *Streams) AsJSON() bool { return s.JSON || !s.Text() && !s.Terminal }

// progress writes one line to the standard error.
func (s *Streams) progress(text string) {
	_, _ = fmt.Fprintln(s.messages(), "signalcast:", settings.Hide(show.Clean(text)))
}

// messages returns the writer for progress and questions, which are not part of the output. It is never nil.
func (s *Streams) messages() io.Writer {
	if s.Err == nil {
		return io.Discard
	}
	return s.Err
}

// agrees writes a question to the terminal and reports whether the answer is y or yes. It returns false when ctx ends.
func (s *Streams) agrees(ctx context.Context, question string) bool {
	_, _ = fmt.Fprint(s.messages(), question+" [y/N] ")
	answer := make(chan string, 1)
	go func() { answer <- s.line() }()
	select {
	case a := <-answer:
		return a == "y" || a == "yes"
	case <-ctx.Done():
		return false
	}
}

// line reads one line of at most 16 bytes and returns it in lower case without surrounding spaces.
func (s *Streams) line() string {
	var line []byte
	for one := make([]byte, 1); len(line) < 16; { // a buffered reader would consume the answer to the next question as well
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

// session sends the requests of one command to one service and writes the output of the command.
type session struct {
	*client.Client
	at   string // address of the service
	out  *show.Output
	json bool // print JSON instead of a table
}

// openPublic returns a session at the hub without a credential.
func openPublic(f *settings.Flags, s *Streams) (*session, error) {
	return connect(f, s, func(string) (string, error) { return "", nil })
}

// openWithKey returns a session at the hub with the operator key.
func openWithKey(f *settings.Flags, s *Streams) (*session, error) {
	return connect(f, s, func(hub string) (string, error) { return f.Secret(hub, s.In) })
}

// openAPI returns a session at the api with the operator key.
func openAPI(f *settings.Flags, s *Streams) (*session, error) {
	address, err := f.APIAddress()
	if err != nil {
		return nil, err
	}
	key, err := apiKey(f, s, address)
	if err != nil {
		return nil, err
	}
	return open(s, address, key)
}

// connect returns a session at the hub with the credential that the function secret returns for the address of the hub.
func connect(f *settings.Flags, s *Streams, secret func(hub string) (string, error)) (*session, error) {
	at, err := f.Address()
	if err != nil {
		return nil, err
	}
	key, err := secret(at)
	if err != nil {
		return nil, err
	}
	return open(s, at, key)
}

// public contains the flags of a command that reads the hub without a credential.
type public struct{ settings.Flags }

// Provide returns a session at the hub without a credential. kong passes it to Run.
func (f *public) Provide(s *Streams) (*session, error) { return openPublic(&f.Flags, s) }

// keyed contains the flags of a command that sends the operator key to the hub.
type keyed struct{ settings.Flags }

// Provide returns a session that sends the operator key to the hub. kong passes it to Run.
func (f *keyed) Provide(s *Streams) (*session, error) { return openWithKey(&f.Flags, s) }

// open returns a session for the service with the given address. The session sends secret as a bearer token. An empty secret
// means no credential.
func open(s *Streams, at, secret string) (*session, error) {
	doer := ask.NewDoer(ask.Options{Wait: s.Wait, Timeout: s.Timeout, Progress: s.progress})
	c, err := client.NewClient(at, client.WithHTTPClient(doer), client.WithRequestEditorFn(
		func(_ context.Context, r *http.Request) error {
			r.Header.Set("Accept", "application/json")
			r.Header.Set("User-Agent", "signalcast")
			if secret != "" {
				r.Header.Set("Authorization", "Bearer "+secret)
			}
			return nil
		}))
	return &session{Client: c, at: at, out: s.Output(), json: s.AsJSON()}, err
}

// sendAdmin makes the session send the admin secret with each request.
func (s *session) sendAdmin(secret string) {
	s.RequestEditors = append(s.RequestEditors, func(_ context.Context, r *http.Request) error {
		r.Header.Set("x-admin-secret", secret)
		return nil
	})
}

// showResponse reads a response and shows it: as JSON if s.json is set, otherwise with the function table. It also decodes
// the response into each value of the parameter also. It returns the errors of ask.Read; if s.json is set, it prints the body
// of a refusal first.
func showResponse[T any](s *session, a *http.Response, err error, table func(*T) error, also ...any) error {
	raw, err := ask.Read(a, err)
	return showBody(s, raw, err, table, also...)
}

// showBody does the same as showResponse for the body and the error that ask.Read returned.
func showBody[T any](s *session, raw []byte, err error, table func(*T) error, also ...any) error {
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
		return errors.Join(err, fmt.Errorf("%w, or use --json", errProtocol))
	}
	return errors.Join(err, table(&v))
}

// answer shows a result that does not come from a service: v as JSON if s.json is set, otherwise pairs as text.
func (s *session) answer(v any, pairs ...string) error {
	if s.json {
		raw, err := json.Marshal(v)
		return errors.Join(err, show.JSON(s.out, raw))
	}
	return show.Pairs(s.out, pairs...)
}

// decoded reads a response and decodes its body. Commands use it for responses that they do not show.
func decoded[T any](a *http.Response, err error) (v T, _ error) {
	raw, err := ask.Read(a, err)
	if err == nil && json.Unmarshal(raw, &v) != nil {
		err = errProtocol
	}
	return v, err
}

var errProtocol = errors.New("the response does not match the protocol; check --hub and --api")

// checkCount returns an error if the value of --count is less than 1. nil means no limit.
func checkCount(count *int) error {
	if count != nil && *count < 1 {
		return errors.New("--count must be at least 1")
	}
	return nil
}

// text returns the text that p points to, or "" for nil.
func text[T ~string](p *T) string {
	if p == nil {
		return ""
	}
	return string(*p)
}

// optional returns a pointer to s, or nil if s is empty. Requests omit members that are nil.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// when returns a time in UTC with minutes as text, or "" for nil.
func when(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}
