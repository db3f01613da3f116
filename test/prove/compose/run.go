package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/signalcast/signalcast/test/prove/stack"
	"github.com/signalcast/signalcast/test/system/container"
)

// issuer is where the provider of identities listens.
const issuer = container.Gateway + ":8091"

// run builds, brings up, has it used, and takes down.
func run(ctx context.Context, keep string) (err error) {
	if missing := container.Missing(); missing != "" {
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
	p := project{root: root, dir: dir, settings: filepath.Join(dir, "env"), began: time.Now()}
	if err := p.build(ctx, keep); err != nil {
		return err
	}
	p.step("images are built")
	if p.engine, err = container.Start(ctx, filepath.Join(dir, "engine"), container.Options{Data: keep, Networks: true}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.engine.Stop()) }()
	p.step("engine " + p.engine.Version + " runs")
	if err := p.writeSettings(ctx); err != nil {
		return err
	}
	return p.use(ctx)
}

// project is compose.yaml in an engine.
type project struct {
	root, dir string
	settings  string // a file
	began     time.Time
	engine    *container.Engine
}

// step tells how far it is.
func (p *project) step(what string) {
	fmt.Printf("%5.1f s  %s\n", time.Since(p.began).Seconds(), what)
}

// compose runs Compose, which finds the parts again by the name of the project.
func (p *project) compose(words ...string) (string, error) {
	args := append([]string{"--project-directory", p.root, "--project-name", "signalcast", "--env-file", p.settings}, words...)
	cmd := p.engine.Beside(context.Background(), "docker-compose", args...) // to its end: what is half up cannot be taken down
	cmd.Dir = p.root
	said, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("docker-compose %s: %w\n%s", words[0], err, said)
	}
	return string(said), err
}

// use brings everything up, has it used, and takes it down.
func (p *project) use(ctx context.Context) (err error) {
	defer func() {
		if err != nil { // why, in the words of the parts
			said, none := p.compose("logs", "--no-color", "--tail", "20")
			fmt.Fprint(os.Stderr, said)
			err = errors.Join(err, none)
		}
		_, wrong := p.compose("down", "--volumes")
		err = errors.Join(err, wrong)
		p.step("everything is down")
	}()
	if _, err := p.compose("up", "--detach"); err != nil {
		return err
	}
	p.step("everything is up")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := p.engine.Beside(ctx, self, inside, p.dir, p.settings)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("use it: %w", err)
	}
	p.step("it was used")
	return nil
}

// build makes all images in an engine on the network of this machine, from which
// Debian's packages come, and the provider of identities.
func (p *project) build(ctx context.Context, keep string) (err error) {
	if err := stack.Build(ctx, p.root, filepath.Join(p.dir, "bin")); err != nil {
		return err
	}
	e, err := container.Start(ctx, filepath.Join(p.dir, "builder"), container.Options{Data: keep})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	cmd := exec.CommandContext(ctx, filepath.Join(p.root, "deploy/images/build.sh"))
	cmd.Env = append(e.Environ(), "TAG=", "BASE=", "DATA_BASE=", "PROGRAMS=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build.sh: %w\n%s", err, said[max(0, len(said)-2000):])
	}
	return nil
}

// writeSettings makes secrets by the script that makes them, and names the provider.
func (p *project) writeSettings(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(p.root, "deploy/images/env.sh"))
	cmd.Env = append(os.Environ(), "HUB_URL="+hub, "API_URL=", "HLS_URL=", "IDP_PROVIDERS="+fmt.Sprintf(
		`[{"name":"dev","issuer":"http://%[1]s","audience":"signalcast-dev","jwksURL":"http://%[1]s/jwks.json","algs":["ES256"],"walletsFrom":"none"}]`, issuer))
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("env.sh: %w", err)
	}
	return os.WriteFile(p.settings, append(out, "SIGNALCAST_ENV=development\n"...), 0o600)
}
