package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/term"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
)

// standardStreams returns the standard streams of the process. Colors are written to a terminal only, and not if NO_COLOR is set
// (https://no-color.org) or TERM is dumb.
func standardStreams() *verbs.Streams {
	in, out := int(os.Stdin.Fd()), int(os.Stdout.Fd())
	s := &verbs.Streams{
		In: os.Stdin, InTerminal: term.IsTerminal(in), Out: os.Stdout, Err: os.Stderr, Terminal: term.IsTerminal(out),
		ReadHidden: readHidden, Browse: browse,
	}
	if s.Terminal {
		s.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if width, _, err := term.GetSize(out); err == nil {
			s.Width = width
		}
	}
	return s
}

// readHidden reads a line from the standard input, which must be a terminal, without showing it. When ctx ends, it restores the
// terminal and returns the error of ctx.
func readHidden(ctx context.Context) (string, error) {
	in := int(os.Stdin.Fd())
	before, err := term.GetState(in)
	if err != nil {
		return "", err
	}
	type result struct {
		line []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := term.ReadPassword(in)
		read <- result{line, err}
	}()
	select {
	case r := <-read:
		return string(r.line), r.err
	case <-ctx.Done():
		_ = term.Restore(in, before) // the process ends
		return "", context.Cause(ctx)
	}
}

// browse opens an http or https address in the browser of the desktop. It reports whether there is a desktop.
func browse(address string) bool {
	var cmd *exec.Cmd
	switch {
	case runtime.GOOS == "darwin":
		cmd = exec.Command("open", address)
	case runtime.GOOS == "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "": // otherwise xdg-open starts a browser in this terminal
		cmd = exec.Command("xdg-open", address)
	default:
		return false
	}
	if cmd.Start() != nil {
		return false
	}
	go func() { _ = cmd.Wait() }() // the address was printed as well
	return true
}
