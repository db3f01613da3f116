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

// History searches every commit message and every file version that is reachable from HEAD in the repository at root. It returns
// the number of git objects searched.
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
		_ = cmd.Process.Kill() // git would block on its full output pipe
	}
	return n, errors.Join(err, cmd.Wait())
}

// objects searches the output of git cat-file --batch. names contains the file path of each object by its object ID; a commit has
// none. objects returns the number of objects searched.
func (s *Search) objects(r *bufio.Reader, names map[string]string) (n int, err error) {
	for {
		head, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		words := strings.Fields(head)
		if err != nil || len(words) != 3 {
			return n, fmt.Errorf("unexpected header of git cat-file --batch: %q: %w", head, err)
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
			s.Text("the message of commit "+words[0][:12], raw)
		case bytes.IndexByte(raw[:min(size, 8000)], 0) >= 0:
			s.Program(name, raw)
		default:
			s.Text(name, raw)
		}
		n++
	}
}
