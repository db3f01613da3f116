package feedclient

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Word is the command under which a program that has readers in processes runs one: it
// calls Main then.
const Word = "hear"

// process is one life in a process of its own, which is killed at the end of ctx. What it
// has written down by then is what it has heard.
func (r *Reader) process(ctx context.Context) {
	o := r.Options
	o.Kind, o.Channels = Loyal, r.Places()
	spec, err := json.Marshal(o)
	if err != nil {
		r.refused(err.Error())
		return
	}
	self, err := os.Executable()
	if err != nil {
		r.refused(err.Error())
		return
	}
	cmd := exec.CommandContext(ctx, self, Word, string(spec)) // killed, not asked
	alive, err := cmd.StdinPipe()                             // whose end ends the process, should we be gone
	if err != nil {
		r.refused(err.Error())
		return
	}
	defer func() { _ = alive.Close() }()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		if ctx.Err() == nil {
			r.refused(err.Error())
		}
		return
	}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // half a line was not written down
		}
		r.read(strings.TrimSuffix(line, "\n"))
	}
	if err := cmd.Wait(); ctx.Err() == nil {
		r.refused(fmt.Sprintf("the process of a reader ended: %v", err))
	}
}

// read takes a line of a reader's process.
func (r *Reader) read(line string) {
	var channel string
	var t Told
	if n, _ := fmt.Sscanf(line, "event %s %d %x", &channel, &t.Seq, &t.Sum); n == 3 {
		r.took(channel, t)
		return
	}
	kind, what, _ := strings.Cut(line, " ")
	r.lived(kind, what)
}

// Main is the process of a reader: it writes a line for all that it hears, at once, and
// lives until in ends.
func Main(ctx context.Context, spec string, in io.Reader, out io.Writer) error {
	var o Options
	if err := json.Unmarshal([]byte(spec), &o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	r := &Reader{Options: o, Notes: newNotes(o.Channels)}
	r.paper = out
	r.library(ctx)
	return nil
}
