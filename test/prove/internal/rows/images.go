package rows

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// imageScript says how images are built; its lines are run here, so that what is proved
// of them is true of what is shipped.
const imageScript = "deploy/images/build.sh"

// imageText is the script, unless a fault has put another one in its place.
func imageText(env *frame.Env) (string, error) {
	text, err := env.Shared(imageScript, func() (any, error) {
		raw, err := os.ReadFile(filepath.Join(env.Root, imageScript))
		return string(raw), err
	})
	if err != nil {
		return "", err
	}
	return text.(string), nil
}

// compileLine is the line of the script that compiles one service.
func compileLine(text string) (string, error) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "go build ") && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			return strings.TrimSpace(line), nil
		}
	}
	return "", fmt.Errorf("%s compiles nothing", imageScript)
}

// compile makes the programs of images out of a tree, as the script does.
func compile(ctx context.Context, env *frame.Env, tree, out string, services []string, flags string) error {
	text, err := imageText(env)
	if err != nil {
		return err
	}
	line, err := compileLine(text)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sh", "-euc", "for s in "+strings.Join(services, " ")+"; do\n"+line+"\ndone")
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "ctx="+out, "arch="+goarch, "GOFLAGS="+flags, "GOWORK="+filepath.Join(tree, "go.work"))
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s in %s: %w\n%.2000s", line, tree, err, said)
	}
	return nil
}

// copyTree copies what is under version control, or would be, without its history.
func copyTree(ctx context.Context, root, to string) (files int, err error) {
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return files, err
		}
		if info.Mode().Type() != 0 {
			return files, fmt.Errorf("%s is no plain file", name)
		}
		if err := copyFile(filepath.Join(root, name), filepath.Join(to, name), info.Mode()); err != nil {
			return files, err
		}
		files++
	}
	return files, nil
}

func copyFile(from, to string, mode fs.FileMode) error {
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, mode.Perm())
}

// imaged is the tree that programs of images were made of, and where they are.
type imaged struct{ tree, bin string }

// images makes the programs of all three images, once for all rows.
func images(ctx context.Context, env *frame.Env, services []string) (imaged, error) {
	made, err := env.Shared("images", func() (any, error) {
		dir := filepath.Join(filepath.Dir(env.Stack.Dir()), "images")
		one := imaged{filepath.Join(dir, "one"), filepath.Join(dir, "bin")}
		if _, err := copyTree(ctx, env.Root, one.tree); err != nil {
			return nil, err
		}
		return one, compile(ctx, env, one.tree, one.bin, services, unstamped)
	})
	if err != nil {
		return imaged{}, err
	}
	return made.(imaged), nil
}
