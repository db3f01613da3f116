package secretscan

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// History reads every object behind HEAD but the lists of files.
func (s *Search) History(ctx context.Context, root string) (n int, err error) {
	revs := exec.CommandContext(ctx, "git", "rev-list", "--objects", "HEAD")
	revs.Dir = root
	list, err := revs.Output()
	if err != nil {
		return 0, fmt.Errorf("git rev-list: %w", err)
	}
	names := map[string]string{}
	var ask strings.Builder
	for line := range strings.Lines(string(list)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		names[id] = name
		ask.WriteString(id + "\n")
	}
	cmd := exec.CommandContext(ctx, "git", "cat-file", "--batch", "--buffer")
	cmd.Dir, cmd.Stdin = root, strings.NewReader(ask.String())
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	n, err = s.objects(bufio.NewReaderSize(out, 1<<20), names)
	if err != nil {
		_ = cmd.Process.Kill() // it waits for a reader
	}
	return n, errors.Join(err, cmd.Wait())
}

// objects reads what `git cat-file --batch` says.
func (s *Search) objects(r *bufio.Reader, names map[string]string) (n int, err error) {
	for {
		head, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		words := strings.Fields(head)
		if err != nil || len(words) != 3 {
			return n, fmt.Errorf("git cat-file said %q: %w", head, err)
		}
		size, err := strconv.Atoi(words[2])
		if err != nil {
			return n, err
		}
		raw := make([]byte, size+1)
		if _, err := io.ReadFull(r, raw); err != nil {
			return n, err
		}
		raw = raw[:size]
		switch name := names[words[0]]; {
		case words[1] == "tree":
			continue
		case name == "":
			s.Text("the message of "+words[0][:12], raw)
		case bytes.IndexByte(raw[:min(size, 8000)], 0) >= 0:
			s.Program(name, raw)
		default:
			s.Text(name, raw)
		}
		n++
	}
}
