package shipping

import (
	"context"
	"errors"
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
	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/container"
	"github.com/signalcast/signalcast/test/system/stack"
)

const (
	// composeEnv names a directory that stores the images of TestComposeRuns for the next run, or is 1. If it is set, the test fails
	// instead of being skipped.
	composeEnv = "COMPOSE_TEST"
	// composePart selects the part of TestComposeRuns that TestInsideTheEngine runs.
	composePart = "COMPOSE_PART"
	// composeAdmin is the value of ADMIN_SECRET for that part.
	composeAdmin = "COMPOSE_ADMIN"

	productionFile = "compose.production.yaml"

	// The ports of these addresses are published by compose.yaml.
	composeHub    = "http://127.0.0.1:8080"
	composeAPI    = "http://127.0.0.1:8081"
	composeClock  = "http://127.0.0.1:8082"
	composeOrigin = "http://127.0.0.1:8083"
	composeVenues = "http://127.0.0.1:8090"
	composeIDP    = "http://127.0.0.1:8091"

	// developmentAdmin is the value of ADMIN_SECRET in compose.yaml.
	developmentAdmin = "development-only-admin-secret-not-for-production"
)

// composeProgram returns the command of Docker Compose: the plugin of docker or the older separate program. It returns nil if there
// is none.
func composeProgram() []string {
	if exec.Command("docker", "compose", "version").Run() == nil {
		return []string{"docker", "compose"}
	}
	if _, err := exec.LookPath("docker-compose"); err == nil {
		return []string{"docker-compose"}
	}
	return nil
}

// project is a project of Compose in a private engine.
type project struct {
	engine  *container.Engine
	program []string
	root    string
	files   []string // arguments that select the files; empty: compose.yaml
}

// run runs a command of Compose and returns its output.
func (p project) run(args ...string) (string, error) {
	all := append(append(append([]string{}, p.program[1:]...), "--project-name", "signalcast"), p.files...)
	// A command that is interrupted with the test could leave a project that has started only in part and cannot be removed.
	cmd := p.engine.Command(context.Background(), p.program[0], append(all, args...)...)
	cmd.Dir = p.root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestComposeRuns builds the images with deploy/images/build.sh in a private engine that cannot pull images. It then starts the
// project twice: with compose.yaml alone, without a file or a variable, and with the overlay for production. The test requires
// root, dockerd, Docker Compose, debootstrap and network access to Debian packages.
func TestComposeRuns(t *testing.T) {
	images := os.Getenv(composeEnv)
	program := composeProgram()
	_, noDebootstrap := exec.LookPath("debootstrap")
	reason := container.Unavailable()
	switch {
	case reason == "" && program == nil:
		reason = "Docker Compose is not installed"
	case reason == "" && noDebootstrap != nil:
		reason = "debootstrap is not installed"
	}
	switch {
	case reason != "" && images == "":
		t.Skip("the images cannot be built and started: " + reason)
	case reason != "":
		t.Fatal(reason)
	}
	t.Parallel()
	dir, err := os.MkdirTemp("/var/tmp", "signalcast-compose-") // /tmp may be a small tmpfs
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if images == "" || images == "1" {
		images = filepath.Join(dir, "images")
	}
	began := time.Now()
	step := func(what string) {
		t.Logf("%s after %v", what, time.Since(began).Round(time.Second))
	}
	buildImages(t, dir, images)
	step("images built")
	engine, err := container.Start(t.Context(), filepath.Join(dir, "engine"), container.Options{Data: images, Networks: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Stop(); err != nil {
			t.Error(err)
		}
	})
	local := project{engine: engine, program: program, root: root(t)}
	local.use(t, "local", developmentAdmin, step)
	production := local
	settings, admin := writeComposeSettings(t, dir)
	production.files = []string{"-f", composeFile, "-f", productionFile, "--env-file", settings}
	production.requireSecrets(t)
	step("secrets required")
	production.use(t, "production", admin, step)
	testInContainers(t, engine)
	step("databases in containers tested")
}

// testInContainers runs the tests of the module test/containers on the images of Postgres and Redis in the engine.
func testInContainers(t *testing.T, engine *container.Engine) {
	t.Helper()
	dir := filepath.Join(root(t), "test/containers")
	program := filepath.Join(stack.TempDir(t), "containers.test")
	run(t, dir, []string{"GOWORK=off"}, "go", "test", "-c", "-vet=off", "-o", program, ".")
	cmd := engine.Command(t.Context(), program, "-test.v", "-test.short")
	cmd.Dir = dir
	// Without a registry, the engine has no image of the container that removes containers of killed tests.
	cmd.Env = append(cmd.Env, "TEST_BACKEND=containers", "TESTCONTAINERS_RYUK_DISABLED=true", "SYSTEM_BIN="+stack.Bin(t))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || strings.Count(string(out), "--- PASS") != 2 {
		t.Errorf("test/containers: %v; want two tests to pass", err)
	}
}

// buildImages builds the images of the project in an engine whose data is in the directory images. This engine uses the network
// of the machine, to download Debian packages.
func buildImages(t *testing.T, dir, images string) {
	t.Helper()
	builder, err := container.Start(t.Context(), filepath.Join(dir, "builder"), container.Options{Data: images})
	if err != nil {
		t.Fatal(err)
	}
	env := append(builder.Environ(), "TAG=", "IMAGE_PREFIX=", "BASE=", "PROGRAMS=", "MINIMAL=")
	cmd := exec.CommandContext(t.Context(), filepath.Join(root(t), imageScript))
	cmd.Dir, cmd.Env = root(t), env
	out, err := cmd.CombinedOutput()
	if err := errors.Join(err, builder.Stop()); err != nil {
		t.Fatalf("%s: %v\n%s", imageScript, err, out[max(0, len(out)-4000):])
	}
}

// use starts the project, runs a part of TestInsideTheEngine with the admin secret, and removes the project with its volumes.
func (p project) use(t *testing.T, part, admin string, step func(string)) {
	t.Helper()
	removed := false
	down := func() {
		if removed {
			return
		}
		removed = true
		if t.Failed() {
			logs, err := p.run("logs", "--no-color", "--tail", "20")
			t.Log(logs, err)
		}
		if out, err := p.run("down", "--volumes"); err != nil {
			t.Errorf("down: %v\n%s", err, out)
		}
	}
	t.Cleanup(down)
	if out, err := p.run("up", "--detach"); err != nil {
		t.Fatalf("up: %v\n%s", err, out)
	}
	step(part + ": started")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := p.engine.Command(t.Context(), self, "-test.run=^TestInsideTheEngine$", "-test.v")
	cmd.Env = append(cmd.Env, composePart+"="+part, composeAdmin+"="+admin)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("use the running project: %v", err)
	}
	step(part + ": used")
	down()
	step(part + ": removed")
}

// writeComposeSettings writes the settings for production, with generated secrets, to a file. It returns the path of the file and
// the admin secret.
func writeComposeSettings(t *testing.T, dir string) (path, admin string) {
	t.Helper()
	env := []string{
		"HUB_URL=https://hub.example", "API_URL=https://api.example", "HLS_URL=", "IDP_LOGIN_URL=",
		`IDP_PROVIDERS=[{"name":"login","issuer":"https://login.example","audience":"signalcast","algs":["ES256"],"walletsFrom":"none"}]`,
	}
	path = filepath.Join(dir, "env")
	out := run(t, root(t), env, filepath.Join(root(t), "deploy/images/env.sh"))
	if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	_, admin, _ = strings.Cut(out, "\nADMIN_SECRET=")
	admin, _, _ = strings.Cut(admin, "\n")
	return path, admin
}

// requireSecrets requires that the project is refused without any one of its secrets, by a message that names the secret.
func (p project) requireSecrets(t *testing.T) {
	t.Helper()
	path := p.files[len(p.files)-1]
	text, tried := stack.ReadFile(t, path), 0
	defer func() {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}()
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if value == "" || name == "API_URL" {
			continue // optional
		}
		tried++
		if err := os.WriteFile(path, []byte(strings.Replace(text, line, "", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := p.run("config", "--quiet"); err == nil || !strings.Contains(out, name) {
			t.Errorf("Compose without %s: %v\n%s\nwant an error that names it", name, err, out)
		}
	}
	if tried != 16 {
		t.Errorf("%d settings of env.sh have a value; want 16", tried)
	}
}

// TestInsideTheEngine runs the parts of TestComposeRuns in the network namespace of the engine, where the published ports are.
func TestInsideTheEngine(t *testing.T) {
	switch os.Getenv(composePart) {
	case "":
		t.Skip("the test runs as part of TestComposeRuns")
	case "local":
		useLocal(t)
	case "production":
		useProduction(t)
	}
}

// useLocal uses everything that compose.yaml promises without a setting: sign-in, calls at all venues, live prices, pages in a
// browser, video and clips with pictures.
func useLocal(t *testing.T) {
	t.Helper()
	s := &stack.Stack{Info: stack.Info{
		Hub: composeHub, API: composeAPI, Clock: composeClock, Origin: composeOrigin, Venues: composeVenues, IDP: composeIDP,
		AdminSecret: os.Getenv(composeAdmin),
	}}
	requireHealthyContainers(t, "api", "clock", "hub", "idp", "postgres", "redis", "venues")
	began := time.Now()
	o := s.NewOperator(t)
	native := stack.Call(s.NewNativeMarket(t, 5000, nil), "YES", 5000)
	id := o.File(t, native).Require(http.StatusOK).Text("id")
	o.File(t, native).RequireError(http.StatusConflict, "already_predicted").Expect(stack.JSON{"id": id})
	t.Logf("first call after %v", time.Since(began).Round(time.Millisecond))
	for _, venue := range stack.Venues {
		market := s.NewVenueMarket(t, venue, 0.4, nil)
		o.File(t, stack.Call(market.ID, "YES", 4000)).Require(http.StatusOK).Expect(stack.JSON{"priceVerified": true})
		if venue == "polymarket" {
			market.AwaitFollowed(t)
		}
	}
	stack.Get(t, s.Clock+"/program/now").Require(http.StatusOK)

	tab := browser.Open(t, browser.Desktop)
	tab.Visit(s.Hub+"/receipts/"+id, http.StatusOK)
	tab.Visit(s.Hub+"/dev", http.StatusOK)
	tab.Press(`a[href*="/login"]`, "#user")
	tab.SignIn("mara_k", ".me.account summary")
	requirePictureOfClip(t, s)
}

// requirePictureOfClip sends video to the origin, cuts a clip, and requires that the clip has a picture.
func requirePictureOfClip(t *testing.T, s *stack.Stack) {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Fatal("the test sends video with ffmpeg, which is not installed")
	}
	o := s.NewOperator(t)
	o.Send(t, "/api/streamer/register", http.StatusCreated, o.Session(t), stack.JSON{"displayName": "Of the river"})
	o.SetStreamer(t, "approved")
	stream := o.Send(t, "/api/streamer/stream", http.StatusCreated, stack.Bearer(o.Login), stack.JSON{"label": "test"})
	playlist := composeOrigin + "/live/" + o.Handle + "/index.m3u8"
	stream.Expect(stack.JSON{"stream.playback.hlsUrl": playlist})
	push(t, "-readrate", "3", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=10", "-c:v", "libx264", "-preset", "ultrafast", "-g", "20",
		"-pix_fmt", "yuv420p", "-f", "hls", "-hls_time", "2", "-hls_list_size", "5", "-method", "PUT", stream.Text("stream.ingest.pushUrl"))
	stack.Eventually(t, time.Minute, "the stream of "+o.Handle, func() bool { return stack.Get(t, playlist).Status == http.StatusOK })
	stack.Wait(t, 5*time.Second)
	market := s.NewNativeMarket(t, 5000, nil)
	o.Send(t, "/api/live/"+o.Handle+"/clip", http.StatusCreated, o.Session(t), stack.JSON{"title": "The river turns", "marketId": market})
	var picture string
	stack.Eventually(t, time.Minute, "a clip with a picture", func() bool {
		list := stack.Get(t, s.Hub+"/api/m/"+market+"/clips")
		picture = list.Member("clips.0.thumbnailUrl")
		return strings.HasPrefix(picture, composeOrigin)
	})
	stack.Get(t, picture).Require(http.StatusOK)
}

// push runs ffmpeg until the test ends.
func push(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("ffmpeg", append([]string{"-nostdin", "-v", "error"}, args...)...)
	child, err := localdb.StartChild(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.Stop(context.Background(), syscall.SIGKILL, 5*time.Second) })
}

// useProduction requires that the services for production run without those for development, with the rules of production.
func useProduction(t *testing.T) {
	t.Helper()
	requireHealthyContainers(t, "api", "clock", "hub", "postgres", "redis")
	for _, base := range []string{composeVenues, composeIDP, composeOrigin} {
		if resp, err := http.Get(base + "/healthz"); err == nil {
			_ = resp.Body.Close()
			t.Errorf("%s answers %s; want no listener", base, resp.Status)
		}
	}
	s := &stack.Stack{Info: stack.Info{Hub: composeHub, API: composeAPI, Clock: composeClock, AdminSecret: developmentAdmin}}
	stack.Post(t, s.Hub+"/api/admin/markets", s.Admin(), stack.Body(stack.JSON{})).RequireError(http.StatusForbidden, "forbidden")
	s.AdminSecret = os.Getenv(composeAdmin)
	stack.Get(t, s.Hub+"/api/m/"+s.NewNativeMarket(t, 5000, nil)).Require(http.StatusOK)
	page := stack.Get(t, s.Hub+"/docs").Require(http.StatusOK)
	if page.Header.Get("Strict-Transport-Security") == "" {
		t.Error("the hub does not send Strict-Transport-Security; want the headers of production")
	}
	stack.Get(t, s.API+"/api/v1/feed").Require(http.StatusOK)
	stack.Get(t, s.Clock+"/program/now").Require(http.StatusOK)
}

// requireHealthyContainers waits until all services are ready, and the engine reports exactly these services as healthy and no
// others as running.
func requireHealthyContainers(t *testing.T, names ...string) {
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
	const label = `{{.Label "com.docker.compose.service"}} {{.Status}}`
	out := ""
	defer func() {
		if t.Failed() {
			t.Log(out)
		}
	}()
	stack.Eventually(t, 2*time.Minute, fmt.Sprintf("the healthy containers %v", names), func() bool {
		raw, err := exec.CommandContext(t.Context(), "docker", "ps", "--format", label).Output()
		out = string(raw)
		healthy := 0
		for _, name := range names {
			for line := range strings.Lines(out) {
				if strings.HasPrefix(line, name+" ") && strings.Contains(line, "(healthy)") {
					healthy++
				}
			}
		}
		return err == nil && healthy == len(names) && strings.Count(out, "\n") == len(names)
	})
}
