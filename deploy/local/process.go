package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// process is a program of the stack and its operating system process.
type process struct {
	*localdb.Process
	program
	bin string // directory of the binaries
}

// Restart starts the program. The launcher also calls it for the first start.
func (p *process) Restart(context.Context) error {
	cmd := exec.Command(filepath.Join(p.bin, p.binary))
	cmd.Env = environment(p.env)
	// SIGKILL ends the program when the launcher ends, also one that hangs. Acknowledged writes are in Postgres.
	_, err := p.Start(cmd, syscall.SIGKILL)
	return err
}

// ready waits until the probe of the program returns status 200. It returns an error with the last lines of the log if the
// program ends first, or if ctx ends first.
func (p *process) ready(ctx context.Context) error {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	url := p.base() + p.probe
	last := "no answer"
	for {
		select {
		case <-p.Done():
			return fmt.Errorf("%s ended before it was ready (%w); last lines of %s:\n%s", p.name, p.Err(), p.LogFile(), p.Tail(30))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %s; last lines of %s:\n%s", p.name, last, p.LogFile(), p.Tail(30))
		case <-time.After(20 * time.Millisecond):
		}
		resp, err := client.Get(url)
		if err != nil {
			last = err.Error()
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		last = url + " answers " + resp.Status
	}
}

// environment returns the environment of the launcher with settings added. A setting overrides a variable of the same name.
func environment(settings map[string]string) []string {
	env := os.Environ()
	for name, value := range settings {
		env = append(env, name+"="+value)
	}
	return env
}
