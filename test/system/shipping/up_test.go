package shipping

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/system/container"
	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	// composeEnv enables TestComposeRuns. Its value is a directory that stores the images for the next run, or 1.
	composeEnv = "COMPOSE_TEST"
	// composeDirEnv is the directory of a running TestComposeRuns. That test sets it for TestComposeServesACall.
	composeDirEnv = "COMPOSE_DIR"
	// issuerAddr is the address at which containers reach the identity provider.
	issuerAddr = container.Gateway + ":8091"

	// The ports of these addresses are published by compose.yaml.
	composeHub   = "http://127.0.0.1:8080"
	composeAPI   = "http://127.0.0.1:8081"
	composeClock = "http://127.0.0.1:8082"
)

// TestComposeRuns builds the images from the sources, starts the whole project of compose.yaml, and files a call. It uses the
// identity provider for development; everything else is as in a real installation. The test requires root, dockerd,
// docker-compose, debootstrap and network access to Debian packages. It takes minutes; run it with `make compose-test`.
func TestComposeRuns(t *testing.T) {
	images := os.Getenv(composeEnv)
	if images == "" {
		t.Skip("the test takes minutes and requires docker; run: make compose-test")
	}
	if reason := container.Unavailable(); reason != "" {
		t.Fatal(reason)
	}
	dir, err := os.MkdirTemp("/var/tmp", "signalcast-compose-") // /tmp may be a small tmpfs
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if images == "1" {
		images = filepath.Join(dir, "images")
	}
	start := func(name string, opts container.Options) *container.Engine {
		e, err := container.Start(t.Context(), filepath.Join(dir, name), opts)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	// The builder needs the network of this machine to download Debian packages.
	builder := start("builder", container.Options{Data: images})
	run(t, root(t), append(builder.Environ(), "TAG=", "IMAGE_PREFIX=", "BASE=", "DATA_BASE=", "PROGRAMS="), filepath.Join(root(t), imageScript))
	if err := builder.Stop(); err != nil {
		t.Fatal(err)
	}
	engine := start("engine", container.Options{Data: images, Networks: true})
	t.Cleanup(func() {
		if err := engine.Stop(); err != nil {
			t.Error(err)
		}
	})
	writeComposeSettings(t, dir)
	compose := func(args ...string) (string, error) {
		all := append([]string{
			"--project-directory", root(t), "--project-name", "signalcast", "--env-file", filepath.Join(dir, "env"),
		}, args...)
		// A command that is interrupted with the test could leave a project that has started only in part and cannot be removed.
		cmd := engine.Command(context.Background(), "docker-compose", all...)
		cmd.Dir = root(t)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() {
		if t.Failed() {
			logs, err := compose("logs", "--no-color", "--tail", "20")
			t.Log(logs, err)
		}
		if out, err := compose("down", "--volumes"); err != nil {
			t.Errorf("docker-compose down: %v\n%s", err, out)
		}
	})
	if out, err := compose("up", "--detach"); err != nil {
		t.Fatalf("docker-compose up: %v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := engine.Command(t.Context(), self, "-test.run=^TestComposeServesACall$", "-test.v")
	cmd.Env = append(cmd.Env, composeDirEnv+"="+dir, "SYSTEM_BIN="+stack.Bin(t))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("use the running project: %v\n%s", err, out)
	}
}

// writeComposeSettings writes the settings of the project, with generated secrets, to the file env in the directory.
func writeComposeSettings(t *testing.T, dir string) {
	t.Helper()
	provider := fmt.Sprintf(`[{"name":"dev","issuer":"http://%[1]s","audience":"signalcast-dev","jwksURL":"http://%[1]s/jwks.json",`+
		`"algs":["ES256"],"walletsFrom":"none"}]`, issuerAddr)
	env := []string{"HUB_URL=" + composeHub, "API_URL=", "HLS_URL=", "IDP_PROVIDERS=" + provider}
	out := run(t, root(t), env, filepath.Join(root(t), "deploy/images/env.sh"))
	if err := os.WriteFile(filepath.Join(dir, "env"), []byte(out+"SIGNALCAST_ENV=development\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestComposeServesACall is the part of TestComposeRuns that runs in the network namespace of the engine. It waits
// until all services are ready, signs in, files a call, and repeats the call.
func TestComposeServesACall(t *testing.T) {
	dir := os.Getenv(composeDirEnv)
	if dir == "" {
		t.Skip("the test runs as part of TestComposeRuns")
	}
	startIssuer(t, dir)
	s := &stack.Stack{Info: stack.Info{Hub: composeHub, API: composeAPI, Clock: composeClock, IDP: "http://" + issuerAddr}}
	for line := range strings.Lines(stack.ReadFile(t, filepath.Join(dir, "env"))) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "ADMIN_SECRET="); ok {
			s.AdminSecret = value
		}
	}
	requireAllHealthy(t)
	person := &stack.Operator{Client: stack.NewClient(), Handle: "compose"}
	login := person.Do(t, http.MethodPost, s.IDP+"/mint", stack.Body(stack.JSON{"user": person.Handle})).
		Require(http.StatusOK).Text("token")
	key := person.Do(t, http.MethodPost, s.Hub+"/api/dev/keys", stack.Bearer(login), stack.Body(stack.JSON{"label": "compose"})).
		Require(http.StatusCreated).Text("key")
	call := stack.Body(stack.Call(s.NewNativeMarket(t, 5000, nil), "YES", 5000))
	predictions := s.Hub + "/api/predictions"
	id := person.Do(t, http.MethodPost, predictions, stack.Bearer(key), call).Require(http.StatusOK).Text("id")
	person.Do(t, http.MethodPost, predictions, stack.Bearer(key), call).RequireError(http.StatusConflict, "already_predicted").
		Expect(stack.JSON{"id": id})
}

// startIssuer starts the identity provider for development until the test ends.
func startIssuer(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(stack.Bin(t), "devidp"))
	cmd.Stderr = os.Stderr
	cmd.Env = []string{
		"ENV=development", "HTTP_ADDR=" + issuerAddr, "PUBLIC_URL=http://" + issuerAddr, "RETURN_TO=" + composeHub,
		"IDP_STATE_DIR=" + filepath.Join(dir, "idp"),
	}
	child, err := localdb.StartChild(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.Stop(context.Background(), syscall.SIGTERM, 5*time.Second) })
}

// requireAllHealthy waits until every service is ready and the engine reports all five containers as healthy.
func requireAllHealthy(t *testing.T) {
	t.Helper()
	client := &http.Client{Timeout: 2 * time.Second}
	for _, base := range []string{composeHub, composeAPI, composeClock} {
		stack.Eventually(t, 2*time.Minute, base+" to be ready", func() bool {
			resp, err := client.Get(base + "/readyz")
			if err != nil {
				return false
			}
			_ = resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		})
	}
	stack.Eventually(t, 2*time.Minute, "five healthy containers", func() bool {
		out, err := exec.CommandContext(t.Context(), "docker", "ps", "--filter", "health=healthy", "--format", "{{.Names}}").Output()
		return err == nil && strings.Count(string(out), "\n") == 5
	})
}
