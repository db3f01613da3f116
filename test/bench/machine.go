package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/system/stack"
)

// CPU cores for the measured server and for the load, in the sections that run them on separate cores.
const (
	serverCore = "0"
	loadCore   = "1"
)

// requirePrograms ends the run if a program that the selected sections need is not installed. With the flag -against, it
// checks nothing.
func (b *bench) requirePrograms() {
	var missing []string
	for _, need := range []struct{ section, program, in string }{
		{"reads", "nginx", "nginx-light"},
		{"reads", "wrk", "wrk"},
		{"hop", "taskset", "util-linux"},
		{"write", pgbench(), "postgresql"},
	} {
		if _, err := exec.LookPath(need.program); err != nil && b.selected(need.section) && b.against == "" {
			missing = append(missing, need.in)
		}
	}
	if list := strings.Join(missing, " "); list != "" {
		check(fmt.Errorf("the programs of %s are not installed; run: sudo apt-get update && sudo apt-get install -y --no-install-recommends %s", list, list))
	}
}

// pgbench returns the path of pgbench, which Debian does not install in PATH. If it finds none, it returns "pgbench".
func pgbench() string {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench"); len(found) > 0 {
		return found[len(found)-1]
	}
	return "pgbench"
}

// pinned returns a command that runs a program on one core.
func pinned(ctx context.Context, core, program string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "taskset", append([]string{"-c", core, program}, args...)...)
}

// own returns the path of this program.
func own() string { return must(os.Executable()) }

// serve starts a server on serverCore that runs until the end of the current scope.
func (b *bench) serve(env []string, program string, args ...string) *localdb.Child {
	cmd := pinned(context.Background(), serverCore, program, args...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	child := must(localdb.StartChild(cmd, syscall.SIGKILL))
	b.Cleanup(func() { child.Stop(context.Background(), syscall.SIGTERM, 10*time.Second) })
	return child
}

// side starts an additional process of a service on serverCore. changed contains the environment variables that differ from those
// of the first process.
func (s *system) side(service string, changed map[string]string) *stack.Side {
	changed["GOMAXPROCS"] = "1"
	d := s.Side(s.b, service, changed)
	output(exec.Command("taskset", "-a", "-c", "-p", serverCore, strconv.Itoa(d.PID())))
	return d
}

// awaitListener waits up to 10 s until a process accepts connections at the address.
func (b *bench) awaitListener(addr string) {
	stack.Eventually(b, 10*time.Second, "a listener on "+addr, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
}

// output runs a command and returns its standard output. If the command fails, output ends the run with an error that contains
// the standard output and the standard error of the command.
func output(cmd *exec.Cmd) []byte {
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w: %s%s", cmd.Args, err, out, exit.Stderr)
	}
	return must(out, err)
}

// tick is the unit of the CPU times in /proc/PID/stat on Linux.
const tick = 10 * time.Millisecond

// procTime returns the sum of the CPU times of processes, without their children. A process that has ended counts as 0.
func procTime(pids ...int) (sum time.Duration) {
	for _, pid := range pids {
		now := stat(pid)
		sum += time.Duration(now.UTime+now.STime) * tick
	}
	return sum
}

// treeTime returns the CPU time of a process, its descendants, and its children that have ended. For Postgres, this is the time
// of all its processes. treeTime repeats the reading if a child started or ended meanwhile, because the sum could omit that
// child.
func treeTime(pid int) time.Duration {
	for {
		family, ended := localdb.Family(pid), stat(pid)
		sum := procTime(family...) + time.Duration(ended.CUTime+ended.CSTime)*tick
		if slices.Equal(family, localdb.Family(pid)) {
			return sum
		}
	}
}

// stat returns the values of /proc/PID/stat, or zeros for a process that has ended.
func stat(pid int) (now procfs.ProcStat) {
	if p, err := procfs.NewProc(pid); err == nil {
		now, _ = p.Stat()
	}
	return now
}

// resident returns the resident memory of a process in bytes, or 0 if the process has ended.
func resident(pid int) int64 {
	now := stat(pid)
	return int64(now.ResidentMemory())
}

// busy returns the share of the CPU time of all cores that was used during half a second, from 0 to 1.
func (b *bench) busy() float64 {
	cores := func() (used, all float64) {
		c := must(must(procfs.NewDefaultFS()).Stat()).CPUTotal
		used = c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
		return used, used + c.Idle + c.Iowait
	}
	used, all := cores()
	stack.Wait(b, 500*time.Millisecond)
	used2, all2 := cores()
	return (used2 - used) / max(all2-all, 0.01)
}

// awaitIdle waits until less than 20% of the CPU of the machine is in use. After the duration of the option quiet, it stops
// waiting, prints a note, and records the used share if it is the largest so far. If quiet is 0, it does not wait.
func (b *bench) awaitIdle() {
	share := 0.0
	for end := time.Now().Add(b.quiet); time.Now().Before(end); {
		if share = b.busy(); share < 0.20 {
			return
		}
	}
	if b.quiet > 0 {
		b.report.Noise = max(b.report.Noise, share)
		fmt.Printf("note: machine %.0f%% busy with other work\n", 100*share)
	}
}
