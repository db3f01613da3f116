package rows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/secretscan"
)

// leaky is the history that is read, unless a fault has put another in its place.
const leaky = "repository"

// l3 reads every file and message that can be reached from here in the history, and all
// that goes into the images, and looks for the secrets of the running system, for what
// has the form of a secret, and for what looks as if it came from a random source.
var l3 = frame.Row{
	ID: "L3", Title: "the repository and the images hold no secret", Limit: 5 * time.Minute,
	Fault: frame.Fault{What: "a key was committed, and removed again", Plant: commitKey},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		found, err := env.Shared(leaky, func() (any, error) { return env.Root, nil })
		if err != nil {
			return nil, err
		}
		secrets, err := canaries(env)
		if err != nil {
			return nil, err
		}
		s, root := secretscan.New(secrets), found.(string)
		objects, err := s.History(ctx, root)
		if err != nil {
			return nil, err
		}
		shallow, err := git(ctx, root, "rev-parse", "--is-shallow-repository")
		if err != nil {
			return nil, err
		}
		whole, depth := strings.TrimSpace(shallow) == "false", "all of the history"
		if !whole {
			depth = "a shallow history"
		}
		shipped := 0
		if env.Size > frame.Small {
			if shipped, err = lookAtImages(ctx, env, seen, s); err != nil {
				return nil, err
			}
			if err := noDefaults(ctx, env, seen); err != nil {
				return nil, err
			}
		}
		for _, hit := range s.Hits() {
			seen.Wrong("%s", hit)
		}
		exceptions, idle := s.Exceptions()
		if whole {
			seen.Check(len(idle) == 0, "exceptions for nothing: %s", strings.Join(idle, ", "))
		}
		seen.Check(len(secrets) >= 10, "only %d secrets of the system were looked for", len(secrets))
		seen.Check(objects > 100, "only %d objects were read", objects)
		seen.Figure("searchedBytes", s.Bytes)
		seen.Figure("exceptions", exceptions)
		seen.Promise("hits 0", fmt.Sprintf("hits %d", len(s.Hits())))
		seen.Volume("%s files and messages of %s, %d files of images, %.0f MB", frame.Number(objects), depth, shipped, float64(s.Bytes)/(1<<20))
		return seen, nil
	},
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out), nil
}

// canaries are the secrets of the running system.
func canaries(env *frame.Env) (map[string]string, error) {
	told, err := toldSecrets(env)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, t := range append(told, secret{"the admin secret", env.Stack.AdminSecret, nil}, secret{"the cron secret", env.Stack.CronSecret, nil}) {
		if t.name == "the secret of the users interface" {
			continue // of the development issuer, which has the same one everywhere and is told so
		}
		if len(t.text) < 16 {
			return nil, fmt.Errorf("%s is too short to be looked for", t.name)
		}
		all[t.name] = t.text
	}
	return all, nil
}

// copies matches what an image takes from the folder that it is built in.
var copies = regexp.MustCompile(`(?m)^(?:COPY|ADD)\s+(?:--\S+\s+)*(\S+)`)

// lookAtImages reads what goes into the images: their programs, and the certificates that they
// trust. All else that they copy is in the history.
func lookAtImages(ctx context.Context, env *frame.Env, seen *frame.Seen, s *secretscan.Search) (n int, err error) {
	made, err := images(ctx, env, openapi.Hosts)
	if err != nil {
		return 0, err
	}
	for _, service := range openapi.Hosts {
		raw, err := os.ReadFile(filepath.Join(made.bin, service))
		if err != nil {
			return 0, err
		}
		s.Program("the image of "+service, raw)
	}
	read := []string{"${BINARY}", "ca-certificates.crt", "video", "data-entry.sh"} // video is an empty folder
	files, err := filepath.Glob(filepath.Join(env.Root, "deploy/images/*.Dockerfile"))
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		for _, m := range copies.FindAllStringSubmatch(string(raw), -1) {
			seen.Check(slices.Contains(read, m[1]), "%s copies %s, which nobody looks through", file, m[1])
			n++
		}
	}
	seen.Check(n >= 4, "the images copy %d things", n)
	trusted, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil // the machine keeps it elsewhere, and it is public
	}
	s.Program("the certificates of images", trusted)
	return n, err
}

// noDefaults has the check of deployments read compose.yaml, and wants every file for a
// cluster to name its secrets alone.
func noDefaults(ctx context.Context, env *frame.Env, seen *frame.Seen) error {
	cmd := exec.CommandContext(ctx, "go", "-C", "deploy/check", "run", ".", "-file", filepath.Join(env.Root, "compose.yaml"))
	cmd.Dir, cmd.Env = env.Root, append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	seen.Check(err == nil, "compose.yaml: %.1000s", out)
	return filepath.WalkDir(filepath.Join(env.Root, "deploy/k8s"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // there are no such files
		case err != nil || d.IsDir():
			return err
		}
		raw, err := os.ReadFile(path)
		seen.Check(!regexp.MustCompile(`(?m)^kind:\s*Secret\s*$`).Match(raw), "%s holds a secret", path)
		return err
	})
}

// commitKey copies the history to where nobody else looks, and commits a key there in one
// change that the next one takes back.
func commitKey(ctx context.Context, env *frame.Env) error {
	dir := filepath.Join(filepath.Dir(env.Stack.Dir()), "leaky")
	if _, err := git(ctx, filepath.Dir(dir), "clone", "--quiet", "--bare", "--shared", env.Root, dir); err != nil {
		return err
	}
	key, err := env.Stack.Secret("adminSecret")
	if err != nil {
		return err
	}
	empty, err := git(ctx, dir, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return err
	}
	blob := exec.CommandContext(ctx, "git", "hash-object", "-w", "--stdin")
	blob.Dir, blob.Stdin = dir, strings.NewReader("ADMIN="+key+"\n")
	id, err := blob.Output()
	if err != nil {
		return err
	}
	tree := exec.CommandContext(ctx, "git", "mktree")
	tree.Dir, tree.Stdin = dir, strings.NewReader("100644 blob "+strings.TrimSpace(string(id))+"\tnotes.txt\n")
	with, err := tree.Output()
	if err != nil {
		return err
	}
	at := "HEAD"
	for _, t := range []string{string(with), empty} {
		at, err = git(ctx, dir, "-c", "user.name=row", "-c", "user.email=row@example.org", "commit-tree", "-m", "notes", "-p", strings.TrimSpace(at), strings.TrimSpace(t))
		if err != nil {
			return err
		}
	}
	if _, err := git(ctx, dir, "update-ref", "HEAD", strings.TrimSpace(at)); err != nil {
		return err
	}
	env.Replace(leaky, dir)
	return nil
}
