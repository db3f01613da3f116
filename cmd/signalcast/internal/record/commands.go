package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	answer "github.com/signalcast/signalcast/cmd/signalcast/internal/show"
)

// Commands are `signalcast record …`.
type Commands struct {
	Verify verifyCommand `cmd:"" help:"Recompute every number of a record from its lines and name each line that differs; exit code 1 if any does. Origin is verified only with proofs of the public log."`
	Get    getCommand    `cmd:"" help:"Fetch the record of an operator."`
}

type verifyCommand struct {
	From string `arg:"" name:"file-or-url" help:"A file, - for the standard input, or an address that begins with http."`
	Key  string `help:"The ledger's key, as api fsck prints it: the checkpoint of the record must be signed by it." placeholder:"NAME+HASH+KEY"`
	JSON bool   `name:"json" help:"Answer as one JSON object."`

	RequireOrigin bool `help:"Fail with exit code 1 unless proofs of the public log show where the record comes from."`
}

// Run verifies.
func (v *verifyCommand) Run(ctx context.Context) error {
	how := How{Now: time.Now()}
	if v.Key != "" {
		var err error
		if how.Key, err = note.NewVerifier(v.Key); err != nil {
			return fmt.Errorf("--key: %w", err)
		}
	}
	from, err := open(ctx, v.From)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	return v.report(from, os.Stdout, how)
}

// report verifies a record and writes the result. Faults: those of Verify; ErrOrigin.
func (v *verifyCommand) report(from io.Reader, out io.Writer, how How) error {
	var lines bytes.Buffer
	to := out
	if v.JSON {
		to = &lines
	}
	got, err := Verify(from, to, how)
	if err != nil && !errors.Is(err, ErrDiffers) {
		return err
	}
	if v.JSON {
		raw, wrong := json.Marshal(got.result(lines.String()))
		if wrong == nil {
			wrong = answer.JSON(out, raw)
		}
		err = errors.Join(err, wrong)
	} else if err == nil {
		_, err = fmt.Fprintln(out, got.verdict())
	}
	if err == nil && v.RequireOrigin {
		return ErrOrigin
	}
	return err
}

// resultJSON is the result of a verification as a program reads it.
type resultJSON struct {
	Handle      string   `json:"handle"`
	Source      string   `json:"source"`
	AsOf        plain    `json:"asOf"`
	Calls       int64    `json:"calls"`
	Events      int64    `json:"events"`
	Scoring     int64    `json:"scoring"`
	Unpriced    int64    `json:"unpriced"`
	Arithmetic  string   `json:"arithmetic"` // verified, differs
	Origin      string   `json:"origin"`     // not verified
	Differences []string `json:"differences"`
}

// originState is what can be said of the origin of a record without proofs of the public log:
// a checkpoint alone does not contain the rows of the record.
const originState = "not verified"

func (v *Verified) result(lines string) resultJSON {
	out := resultJSON{
		Handle: v.Handle, Source: v.Source, AsOf: stamp(&v.AsOf), Calls: v.Calls, Events: v.Events, Scoring: v.Scoring, Unpriced: v.Unpriced,
		Arithmetic: "verified", Origin: originState, Differences: []string{},
	}
	if v.Differences > 0 {
		out.Arithmetic = "differs"
	}
	for line := range strings.Lines(lines) {
		out.Differences = append(out.Differences, strings.TrimSuffix(line, "\n"))
	}
	return out
}

// verdict describes a record without differences.
func (v *Verified) verdict() string {
	out := fmt.Sprintf("%q as of %s: every number holds (calls: %d, events: %d)", v.Handle, stamp(&v.AsOf), v.Calls, v.Events)
	if v.Scoring > 0 {
		out += fmt.Sprintf("; calls that are still being scored: %d", v.Scoring)
	}
	if v.Unpriced > 0 {
		out += fmt.Sprintf("; verified calls without a stored quote, whose scoring price could not be recomputed: %d", v.Unpriced)
	}
	if v.Unsigned {
		out += "; the signature of the checkpoint was not checked (--key)"
	}
	return out + "\narithmetic verified; origin " + originState
}

type getCommand struct {
	Handle string `arg:"" help:"The operator's handle."`
	settings.Home
	Format string `help:"jsonl or csv." enum:"jsonl,csv" default:"jsonl"`
	Out    string `short:"o" help:"File to write; without it the standard output." type:"path"`
}

// Run fetches. A file appears under its name when it is whole, and not before.
func (g *getCommand) Run(ctx context.Context) error {
	hub, err := g.Address()
	if err != nil {
		return err
	}
	from, err := fetch(ctx, hub+"/api/operator/"+url.PathEscape(g.Handle)+"/record?format="+g.Format)
	if errors.Is(err, errNone) {
		return fmt.Errorf("%w: no operator is called %s. Find a handle with `signalcast board`", err, g.Handle)
	}
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	if g.Out == "" {
		return copyWhole(os.Stdout, from, g.Format)
	}
	part := g.Out + ".part"
	to, err := os.Create(part)
	if err != nil {
		return err
	}
	err = errors.Join(copyWhole(to, from, g.Format), to.Close())
	if err == nil {
		err = os.Rename(part, g.Out)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

func open(ctx context.Context, from string) (io.ReadCloser, error) {
	switch {
	case from == "-":
		return os.Stdin, nil
	case strings.HasPrefix(from, "http://"), strings.HasPrefix(from, "https://"):
		return fetch(ctx, from)
	}
	return os.Open(from)
}

// errNone is that there is no record at an address.
var errNone = errors.New("no such record")

// fetch opens an address. Errors: errNone; that of an unavailable service; else one with the status.
func fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	switch {
	case a.StatusCode == http.StatusNotFound:
		_ = a.Body.Close()
		return nil, errNone
	case a.StatusCode >= 500:
		_, err := ask.Read(a, nil)
		return nil, err
	case a.StatusCode != http.StatusOK:
		said, _ := io.ReadAll(io.LimitReader(a.Body, 1<<10)) // what can be read of it
		_ = a.Body.Close()
		return nil, fmt.Errorf("%s: %d %q", address, a.StatusCode, bytes.TrimSpace(said))
	}
	return unbroken{a.Body}, nil
}

// unbroken reads an answer. An answer that ends early is an error of the service, not of the writer.
type unbroken struct{ io.ReadCloser }

// Read implements io.Reader.
func (w unbroken) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = ask.Cut(err)
	}
	return n, err
}

// copyWhole copies a record and looks whether its last line is the end of one.
func copyWhole(to io.Writer, from io.Reader, format string) error {
	last := &tail{to: to}
	if _, err := io.Copy(last, from); err != nil {
		return fmt.Errorf("the record is not whole: %w", err)
	}
	mark := `{"type":"end",`
	if format == "csv" {
		mark = "end,"
	}
	lines := bytes.Split(bytes.TrimRight(last.end, "\r\n"), []byte("\n"))
	if !bytes.HasPrefix(lines[len(lines)-1], []byte(mark)) {
		return ask.Cut(errors.New("the record has no end"))
	}
	return nil
}

// tail writes on and keeps the last bytes.
type tail struct {
	to  io.Writer
	end []byte
}

// tailSize is more than the last line of a record has.
const tailSize = 8 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.end = append(t.end, p...)
	if n := len(t.end) - tailSize; n > 0 {
		t.end = append(t.end[:0], t.end[n:]...)
	}
	return t.to.Write(p)
}
