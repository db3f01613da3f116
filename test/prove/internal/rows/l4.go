package rows

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

const (
	goarch = runtime.GOARCH
	// unstamped: the copies have no history that could be stamped.
	unstamped = "-buildvcs=false"
)

// l4 compiles the services in two folders, by the line that makes the images. What the
// compiler made of a package in the first folder is taken over in the second, unless the
// sizes of the table are run: then everything is compiled again there.
var l4 = frame.Row{
	ID: "L4", Title: "the same source makes the same binary", Limit: 5 * time.Minute,
	Fault: frame.Fault{What: "the folder of the build is linked in", Plant: func(_ context.Context, env *frame.Env) error {
		text, err := imageText(env)
		if err != nil {
			return err
		}
		line, err := compileLine(text)
		if err != nil {
			return err
		}
		changed := strings.Replace(line, "-ldflags '-s -w'", `-ldflags "-s -w -X runtime.defaultGOROOT=$PWD"`, 1)
		if changed == line {
			return fmt.Errorf("%s links in another way than %q", imageScript, line)
		}
		env.Replace(imageScript, changed)
		return nil
	}},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		services := openapi.Hosts[:env.Of(1, 3, 3)]
		one, err := images(ctx, env, services)
		if err != nil {
			return nil, err
		}
		// Of another length, too.
		two := imaged{filepath.Join(filepath.Dir(one.tree), "another-folder"), filepath.Join(filepath.Dir(one.tree), "bin-of-another")}
		files, err := copyTree(ctx, env.Root, two.tree)
		if err != nil {
			return nil, err
		}
		flags, how := unstamped, "packages compiled once"
		if env.Size == frame.Full {
			flags, how = unstamped+" -a", "everything compiled twice"
		}
		if err := compile(ctx, env, two.tree, two.bin, services, flags); err != nil {
			return nil, err
		}
		places, err := toolFolders(ctx)
		if err != nil {
			return nil, err
		}
		places = append(places, one.tree, two.tree, env.Root)
		equal, size := 0, 0
		for _, service := range services {
			a, err := readBinary(seen, filepath.Join(one.bin, service), places)
			if err != nil {
				return nil, err
			}
			b, err := readBinary(seen, filepath.Join(two.bin, service), places)
			if err != nil {
				return nil, err
			}
			size += len(a)
			if sha256.Sum256(a) == sha256.Sum256(b) {
				equal++
				continue
			}
			seen.Wrong("%s is another binary in another folder: %x and %x", service, sha256.Sum256(a), sha256.Sum256(b))
		}
		seen.Figure("bytes", size)
		seen.OutOf(len(services), equal)
		seen.Volume("%d files in two folders, %s", files, how)
		return seen, nil
	},
}

// toolFolders are those of this machine that a compiler could write down.
func toolFolders(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	return strings.Fields(string(out)), nil
}

// readBinary reads a program, and wants it to know nothing of the machine that made it.
func readBinary(seen *frame.Seen, path string, places []string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, place := range places {
		seen.Check(!bytes.Contains(raw, []byte(place)), "%s names the folder %s", path, place)
	}
	info, err := buildinfo.Read(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
		seen.Check(!strings.HasPrefix(s.Key, "vcs"), "%s was stamped with %s", path, s.Key)
	}
	seen.Check(settings["-trimpath"] == "true", "%s keeps the paths of its sources", path)
	seen.Check(settings["CGO_ENABLED"] == "0", "%s needs libraries of the machine", path)
	return raw, nil
}
