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

// process is one program of the stack.
type process struct {
	*localdb.Process
	program
	bin string // directory of the binaries
}

// Restart starts the program, the first time too.
func (p *process) Restart(context.Context) error {
	cmd := exec.Command(filepath.Join(p.bin, p.binary))
	cmd.Env = environment(p.env)
	// SIGKILL: what a service has acknowledged is in Postgres, and a service that hangs must end with the launcher.
	_, err := p.Start(cmd, syscall.SIGKILL)
	return err
}

// ready waits until the program answers its probe. A program that ends before is not restarted; the error has the end of its log.
func (p *process) ready(ctx context.Context) error {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	url := p.base() + p.probe
	last := "it never answered"
	for {
		select {
		case <-p.Done():
			return fmt.Errorf("%s ended before it was ready (%w); the end of %s:\n%s", p.name, p.Err(), p.LogFile(), p.Tail(30))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %s; the end of %s:\n%s", p.name, last, p.LogFile(), p.Tail(30))
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

// environment returns the environment of the launcher with the settings of a program, which take precedence.
func environment(settings map[string]string) []string {
	env := os.Environ()
	for name, value := range settings {
		env = append(env, name+"="+value)
	}
	return env
}
