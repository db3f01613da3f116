package record

import (
	"bytes"
	"context"
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
)

// Commands are `signalcast record …`.
type Commands struct {
	Verify verifyCommand `cmd:"" help:"Work out every number of a record again and name each line that differs; exit code 1 if any does."`
	Get    getCommand    `cmd:"" help:"Fetch the record of an operator."`
}

type verifyCommand struct {
	From string `arg:"" name:"file-or-url" help:"A file, - for the standard input, or an address that begins with http."`
	Key  string `help:"The ledger's key, as api fsck prints it: the checkpoint of the record must be signed by it." placeholder:"NAME+HASH+KEY"`
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
	got, err := Verify(from, os.Stdout, how)
	if err != nil {
		return err
	}
	_, err = fmt.Println(got.verdict())
	return err
}

// verdict is what is said of a record that holds.
func (v *Verified) verdict() string {
	out := fmt.Sprintf("%q as of %s: every number holds (calls: %d, events: %d)", v.Handle, stamp(&v.AsOf), v.Calls, v.Events)
	if v.Scoring > 0 {
		out += fmt.Sprintf("; calls that are still being scored: %d", v.Scoring)
	}
	if v.Unpriced > 0 {
		out += fmt.Sprintf("; calls whose scoring price could not be worked out, because the market's is not kept: %d", v.Unpriced)
	}
	if v.Unsigned {
		out += "; who signed the checkpoint was not looked at, --key is for that"
	}
	return out
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
		return fmt.Errorf("%w: nobody is called %s. Find a handle with `signalcast board`", err, g.Handle)
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

// fetch opens an address. Faults: errNone; that of a service that is away; else what is no
// record is told by its status.
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

// unbroken reads an answer; one that breaks off is a fault of the service, and not of whoever
// writes it on.
type unbroken struct{ io.ReadCloser }

// Read implements io.Reader.
func (w unbroken) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
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
