// Command run checks that tests detect the faults of test/system/faults. It builds each selected fault and requires that the test
// of its guarantee fails.
//
//	go run ./test/system/faults/run [-p 2] [name ... | i/n]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/test/system/faults"
	"github.com/signalcast/signalcast/test/system/stack"
)

// testWithin is the longest time that one test with a fault may run, without its build.
const testWithin = 4 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	missed, err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fault-test:", err)
	}
	if err != nil || missed > 0 {
		os.Exit(1)
	}
}

// runner builds faults and runs their tests. It contains the values that all faults share.
type runner struct {
	root, dir string
	bin       string // directory of the programs without a fault

	mu    sync.Mutex
	tests map[string]func() (string, error) // by package: builds its test binary without a fault once and returns the path
}

// run builds the faults that the command line selects, and runs their tests. It returns the number of faults that their tests did
// not detect.
func run(ctx context.Context) (missed int, err error) {
	parallel := flag.Int("p", 2, "number of faults tested at the same time")
	flag.Parse()
	r := runner{tests: map[string]func() (string, error){}}
	if r.root, err = stack.Root(); err != nil {
		return 0, err
	}
	all, err := faults.Load(filepath.Join(r.root, "test/system/faults"))
	if err != nil {
		return 0, err
	}
	chosen, err := choose(all, flag.Args())
	if err != nil {
		return 0, err
	}
	if r.dir, err = os.MkdirTemp("", "signalcast-faults-"); err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(r.dir) }()
	if err := r.prepare(ctx); err != nil {
		return 0, err
	}
	errs := make([]error, len(chosen))
	var wait sync.WaitGroup
	slots := make(chan struct{}, max(1, *parallel))
	for i, f := range chosen {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			began := time.Now()
			errs[i] = r.detect(ctx, f)
			result := "detected"
			if errs[i] != nil {
				result = "NOT DETECTED: " + errs[i].Error()
			}
			fmt.Printf("%s %s (%s, %s, %.1f s): %s\n", f.Guarantee, f.Name, f.What, f.Test, time.Since(began).Seconds(), result)
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			missed++
		}
	}
	fmt.Printf("%d of %d faults detected\n", len(chosen)-missed, len(chosen))
	return missed, ctx.Err()
}

// choose returns the faults that the arguments select: all faults without arguments, part i of n for one argument i/n, or the
// faults with the given names.
func choose(all []faults.Fault, args []string) ([]faults.Fault, error) {
	var i, n int
	if len(args) == 1 {
		if _, err := fmt.Sscanf(args[0], "%d/%d", &i, &n); err == nil {
			if i < 1 || i > n {
				return nil, fmt.Errorf("share %s is invalid; it must be i/n with i from 1 to n", args[0])
			}
			var share []faults.Fault
			for k := i - 1; k < len(all); k += n {
				share = append(share, all[k])
			}
			return share, nil
		}
	}
	if len(args) == 0 {
		return all, nil
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(f faults.Fault) bool { return !slices.Contains(args, f.Name) })
	if len(chosen) != len(args) {
		return nil, fmt.Errorf("only %d of the %d named faults exist", len(chosen), len(args))
	}
	return chosen, nil
}

// prepare creates the directory r.bin and builds the programs without a fault into it.
func (r *runner) prepare(ctx context.Context) error {
	// Other users may enter the directory, because a database may run as another user.
	if err := os.Chmod(r.dir, 0o711); err != nil {
		return err
	}
	r.bin = filepath.Join(r.dir, "bin")
	if err := os.Mkdir(r.bin, 0o711); err != nil {
		return err
	}
	return stack.Build(r.bin)
}

// systemTests returns the path of the test binary of a package, built without a fault. It builds each binary only once.
func (r *runner) systemTests(ctx context.Context, pkg string) (string, error) {
	r.mu.Lock()
	build, ok := r.tests[pkg]
	if !ok {
		build = sync.OnceValues(func() (string, error) {
			path := filepath.Join(r.dir, filepath.Base(pkg)+".test")
			return path, r.goRun(ctx, "test", "-c", "-o", path, pkg)
		})
		r.tests[pkg] = build
	}
	r.mu.Unlock()
	return build()
}

// goRun runs the go command in the root directory of the repository. The error contains the output of the command.
func (r *runner) goRun(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// detect builds a fault and runs its test. It returns an error unless the test ran and failed.
func (r *runner) detect(ctx context.Context, f faults.Fault) error {
	dir, err := os.MkdirTemp(r.dir, "fault-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
	tests, bin, err := r.build(ctx, f, dir)
	if err != nil {
		return err
	}
	args := []string{"-test.count=1", "-test.v", "-test.run", f.Pattern()}
	if f.System() {
		args = append(args, "-test.short") // the small size of a test is enough to detect its fault
	}
	ctx, cancel := context.WithTimeout(ctx, testWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, tests, args...)
	cmd.Dir = filepath.Join(r.root, f.Package)
	// SYSTEM_FILES names the directory of patched files, for tests that read files of the repository.
	cmd.Env = append(append(os.Environ(), "SYSTEM_BIN="+bin, "SYSTEM_FILES="+filepath.Join(dir, "src"), "TMPDIR="+dir), f.Environ()...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	out, err := cmd.CombinedOutput()
	switch name := strings.ReplaceAll(f.Test, " ", "_"); {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the test did not end within %v", testWithin)
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && !bytes.Contains(out, []byte("--- PASS: "+name)):
		return fmt.Errorf("the test %s does not exist", f.Test)
	case err == nil:
		return fmt.Errorf("the test passes although the fault is present")
	case bytes.Contains(out, []byte("start the system:")), bytes.Contains(out, []byte("start the shared system:")):
		return fmt.Errorf("the system does not start\n%s", out)
	case !bytes.Contains(out, []byte("--- FAIL: "+name)):
		return fmt.Errorf("the test ended without a result\n%s", out)
	}
	return nil
}

// build builds the test binary and the programs for a fault. It returns the path of the binary and the directory of the programs.
func (r *runner) build(ctx context.Context, f faults.Fault, dir string) (tests, bin string, err error) {
	var overlay string
	if len(f.Files) > 0 {
		if overlay, err = f.Apply(r.root, filepath.Join(dir, "src")); err != nil {
			return "", "", err
		}
	}
	if !f.System() {
		tests = filepath.Join(dir, "fault.test")
		return tests, r.bin, r.goRun(ctx, "test", "-c", fmt.Sprintf("-race=%t", f.Race), "-overlay", overlay, "-o", tests, f.Package)
	}
	if tests, err = r.systemTests(ctx, f.Package); err != nil || len(f.Files) == 0 {
		return tests, r.bin, err
	}
	bin, err = r.buildFaulty(ctx, f, overlay, dir)
	return tests, bin, err
}

// buildFaulty builds the programs that contain a patched file of the fault, and links the other programs from r.bin. It returns
// the directory of the programs.
func (r *runner) buildFaulty(ctx context.Context, f faults.Fault, overlay, dir string) (string, error) {
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o711); err != nil {
		return "", err
	}
	var faulty []string
	for _, program := range stack.Programs {
		if contains(program, f.Files) {
			faulty = append(faulty, program)
			continue
		}
		name := filepath.Base(program)
		if err := os.Link(filepath.Join(r.bin, name), filepath.Join(bin, name)); err != nil {
			return "", err
		}
	}
	if len(faulty) == 0 { // no program contains the patched files
		return bin, nil
	}
	args := []string{"build", "-overlay", overlay, "-o", bin + string(filepath.Separator)}
	return bin, r.goRun(ctx, append(args, faulty...)...)
}

// contains reports whether a program may contain one of the files. It may contain the files in its directory and those in the
// shared directories pkg and proto.
func contains(program string, files []string) bool {
	own := strings.TrimPrefix(program, "./") + "/"
	return slices.ContainsFunc(files, func(f string) bool {
		return strings.HasPrefix(f, own) || strings.HasPrefix(f, "pkg/") || strings.HasPrefix(f, "proto/")
	})
}
