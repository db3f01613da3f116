package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The server under measure and what loads it each get a core of their own,
// where a job asks for it.
const (
	serverCore = "0"
	loadCore   = "1"
)

// tools looks for the foreign programs that the sections need.
func tools(o options) error {
	b := bench{options: o}
	need := map[string]string{}
	if b.wants("reads") {
		need["nginx"], need["wrk"] = "nginx-light", "wrk"
	}
	if b.wants("reads") || b.wants("hop") || b.wants("fanout") || b.wants("clock") {
		need["taskset"] = "util-linux"
	}
	var packages []string
	for program, in := range need {
		if _, err := exec.LookPath(program); err != nil {
			packages = append(packages, in)
		}
	}
	if b.wants("write") {
		if _, err := pgbenchPath(); err != nil {
			packages = append(packages, "postgresql")
		}
	}
	if len(packages) == 0 {
		return nil
	}
	list := strings.Join(packages, " ")
	return fmt.Errorf("%s missing, type: sudo apt-get update && sudo apt-get install -y --no-install-recommends %s", list, list)
}

// pgbenchPath finds pgbench on PATH or where Debian keeps it.
func pgbenchPath() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err == nil && len(found) == 0 {
		err = errors.New("no pgbench")
	}
	if err != nil {
		return "", err
	}
	return found[len(found)-1], nil
}

// tick is the unit of /proc/PID/stat on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// procTime is the CPU time of processes, without what they started.
func procTime(pids ...int) time.Duration {
	var sum time.Duration
	for _, pid := range pids {
		sum += statTime(pid, 11, 12)
	}
	return sum
}

// treeTime is the CPU time of a process, of its living children and of those
// that it has waited for: all of a Postgres. It is read again when a child came or
// went meanwhile, because that one may be missing in both sums.
func treeTime(pid int) time.Duration {
	for {
		before := children(pid)
		sum := statTime(pid, 11, 12, 13, 14)
		for _, child := range before {
			sum += statTime(child, 11, 12)
		}
		if slices.Equal(before, children(pid)) {
			return sum
		}
	}
}

// statTime adds fields of /proc/PID/stat, counted behind the name; a process that
// is gone counts nothing.
func statTime(pid int, fields ...int) time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	text := string(raw)
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	var sum time.Duration
	for _, i := range fields {
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err == nil {
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

func children(pid int) []int {
	var out []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		text := string(raw)
		f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(f) < 2 || f[1] != strconv.Itoa(pid) {
			continue
		}
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			out = append(out, child)
		}
	}
	return out
}

// busy is the share of all cores in use over half a second.
func busy(ctx context.Context) float64 {
	used, all := cores()
	pause(ctx, 500*time.Millisecond)
	used2, all2 := cores()
	if all2 == all {
		return 0
	}
	return float64(used2-used) / float64(all2-all)
}

// cores gives the time that all cores worked, and all their time.
func cores() (used, all int64) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	for i, s := range strings.Fields(line)[1:] {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			break
		}
		if i > 7 { // guest time is in user time already
			break
		}
		all += n
		if i != 3 && i != 4 { // idle and waiting for the disk
			used += n
		}
	}
	return used, all
}

// calm waits until the machine does nothing else, or says that it did not stop.
func (b *bench) calm(ctx context.Context) {
	end := time.Now().Add(b.quiet)
	share := 0.0
	for time.Now().Before(end) && ctx.Err() == nil {
		if share = busy(ctx); share < 0.20 {
			return
		}
	}
	if b.quiet > 0 {
		b.report.noise = max(b.report.noise, share)
		fmt.Printf("note: machine %.0f%% busy with other work\n", 100*share)
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// pinned is a command on one core.
func pinned(ctx context.Context, core, program string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "taskset", append([]string{"-c", core, program}, args...)...)
}
