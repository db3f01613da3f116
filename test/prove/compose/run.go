package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/engine"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// issuer is where the provider of identities listens.
const issuer = engine.Gateway + ":8091"

// run builds, brings up, has it used, and takes down.
func run(ctx context.Context, keep string) (err error) {
	if missing := engine.Missing(); missing != "" {
		return errors.New(missing)
	}
	root, err := stack.Root(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("/var/tmp", "signalcast-compose-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if keep == "" {
		keep = filepath.Join(dir, "images")
	}
	if keep, err = filepath.Abs(keep); err != nil {
		return err
	}
	began := time.Now()
	step := func(what string) { fmt.Printf("%5.1f s  %s\n", time.Since(began).Seconds(), what) }
	if err := build(ctx, root, dir, keep); err != nil {
		return err
	}
	step("images are built")
	e, err := engine.Start(ctx, filepath.Join(dir, "engine"), engine.Options{Data: keep, Networks: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	step("engine " + e.Version + " runs")
	settings := filepath.Join(dir, "env")
	if err := writeSettings(ctx, root, settings); err != nil {
		return err
	}
	compose := func(words ...string) (string, error) {
		args := append([]string{"--project-directory", root, "--project-name", "signalcast", "--env-file", settings}, words...)
		cmd := e.Beside(context.WithoutCancel(ctx), "docker-compose", args...)
		cmd.Dir = root
		said, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("docker-compose %s: %w\n%s", words[0], err, said)
		}
		return string(said), err
	}
	defer func() {
		if err != nil { // why, in the words of the parts
			said, none := compose("logs", "--no-color", "--tail", "20")
			fmt.Fprint(os.Stderr, said)
			err = errors.Join(err, none)
		}
		_, wrong := compose("down", "--volumes")
		err = errors.Join(err, wrong)
		step("everything is down")
	}()
	if _, err := compose("up", "--detach"); err != nil {
		return err
	}
	step("everything is up")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := e.Beside(ctx, self, inside, dir, settings)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("use it: %w", err)
	}
	step("it was used")
	return nil
}

// build makes all images in an engine on the network of this machine, from which
// Debian's packages come, and the provider of identities.
func build(ctx context.Context, root, dir, keep string) (err error) {
	if err := stack.Build(ctx, root, filepath.Join(dir, "bin")); err != nil {
		return err
	}
	e, err := engine.Start(ctx, filepath.Join(dir, "builder"), engine.Options{Data: keep})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	cmd := exec.CommandContext(ctx, filepath.Join(root, "deploy/images/build.sh"))
	cmd.Env = append(e.Environ(), "TAG=", "BASE=", "DATA_BASE=", "PROGRAMS=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build.sh: %w\n%s", err, said[max(0, len(said)-2000):])
	}
	return nil
}

// writeSettings makes secrets by the script that makes them, and names the provider.
func writeSettings(ctx context.Context, root, file string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(root, "deploy/images/env.sh"))
	cmd.Env = append(os.Environ(), "HUB_URL="+hub, "API_URL=", "HLS_URL=", "IDP_PROVIDERS="+fmt.Sprintf(
		`[{"name":"dev","issuer":"http://%[1]s","audience":"signalcast-dev","jwksURL":"http://%[1]s/jwks.json","algs":["ES256"],"walletsFrom":"none"}]`, issuer))
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("env.sh: %w", err)
	}
	return os.WriteFile(file, append(out, "SIGNALCAST_ENV=development\n"...), 0o600)
}
