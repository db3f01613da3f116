package shipping

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/container"
)

// check runs the program deploy/check, which checks compose files, and returns its output.
func check(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"-C", "deploy/check", "run", ".", "-file", sourcePath(t, composeFile)}, args...)
	return run(t, root(t), []string{"GOWORK=off"}, "go", args...)
}

// TestComposeFileIsChecked checks that compose.yaml and compose.production.yaml have the limits that every deployment requires.
// The first one must need no variable, and the second one must require every secret.
func TestComposeFileIsChecked(t *testing.T) {
	t.Parallel()
	check(t)
	check(t, "-file", sourcePath(t, productionFile))
}

// service is the configuration of a service in compose.yaml. Decoding fails for a member that is missing here, so that the
// tests of containers cover every setting.
type service struct {
	Image       string   `json:"image"`
	User        string   `json:"user"`
	Command     []string `json:"command"`
	ReadOnly    bool     `json:"read_only"`
	Init        *bool    `json:"init"`
	CapDrop     []string `json:"cap_drop"`
	SecurityOpt []string `json:"security_opt"`
	MemLimit    int64    `json:"mem_limit,string"`
	PidsLimit   *int64   `json:"pids_limit"`
	Restart     string   `json:"restart"`
	Grace       string   `json:"stop_grace_period"`
	Tmpfs       []string `json:"tmpfs"`
	Volumes     []struct {
		Type   string          `json:"type"`
		Source string          `json:"source"`
		Target string          `json:"target"`
		Volume json.RawMessage `json:"volume"`
	} `json:"volumes"`
	Health struct {
		Test        []string `json:"test"`
		Interval    string   `json:"interval"`
		Timeout     string   `json:"timeout"`
		StartPeriod string   `json:"start_period"`
		Retries     int      `json:"retries"`
	} `json:"healthcheck"`
	Logging struct {
		Driver  string            `json:"driver"`
		Options map[string]string `json:"options"`
	} `json:"logging"`

	// Ignored: the tested containers get the settings of a running system.
	Environment json.RawMessage `json:"environment"`
	Networks    json.RawMessage `json:"networks"`
	Ports       json.RawMessage `json:"ports"`
	Build       json.RawMessage `json:"build"`
	DependsOn   json.RawMessage `json:"depends_on"`

	Entrypoint []string `json:"entrypoint"` // must be empty, so that the entrypoint of the image applies
}

// readCompose returns the services of compose.yaml as the Compose library reads them.
func readCompose(t *testing.T) map[string]service {
	t.Helper()
	var project struct {
		Services map[string]json.RawMessage `json:"services"`
	}
	if err := json.Unmarshal([]byte(check(t, "-print")), &project); err != nil {
		t.Fatal(err)
	}
	out := map[string]service{}
	for _, name := range services(t) {
		var s service
		decoder := json.NewDecoder(bytes.NewReader(project.Services[name]))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&s); err != nil {
			t.Fatalf("decode service %[2]s of %[1]s: %[3]v", composeFile, name, err)
		}
		if len(s.Entrypoint) > 0 {
			t.Fatalf("%s, %s sets an entrypoint; want the entrypoint of the image", composeFile, name)
		}
		out[name] = s
	}
	return out
}

// volumes returns the directories in which the service may write.
func (s service) volumes() (out []string) {
	for _, v := range s.Volumes {
		out = append(out, v.Target)
	}
	return out
}

// container returns the configuration of a container for the service. The container uses the network of this machine, because
// the database listens there.
func (s service) container(t *testing.T, settings map[string]string) (container.Config, container.Host) {
	t.Helper()
	duration := func(text string) time.Duration {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	grace := int(duration(s.Grace).Seconds())
	config := container.Config{
		Image: s.Image, User: s.User, Cmd: s.Command, StopTimeout: &grace,
		Healthcheck: &container.Health{
			Test: s.Health.Test, Retries: s.Health.Retries, Interval: duration(s.Health.Interval),
			Timeout: duration(s.Health.Timeout), StartPeriod: duration(s.Health.StartPeriod),
		},
	}
	for name, value := range settings {
		config.Env = append(config.Env, name+"="+value)
	}
	host := container.Host{
		NetworkMode: "host", ReadonlyRootfs: s.ReadOnly, Init: s.Init, CapDrop: s.CapDrop, SecurityOpt: s.SecurityOpt,
		Memory: s.MemLimit, PidsLimit: s.PidsLimit, Tmpfs: map[string]string{},
		RestartPolicy: container.Restart{Name: s.Restart}, LogConfig: container.Log{Type: s.Logging.Driver, Config: s.Logging.Options},
	}
	for _, line := range s.Tmpfs {
		dir, options, _ := strings.Cut(line, ":")
		host.Tmpfs[dir] = options
	}
	for _, v := range s.Volumes {
		host.Mounts = append(host.Mounts, container.Mount{Type: v.Type, Source: v.Source, Target: v.Target})
	}
	return config, host
}

// ids returns the numeric user and group id.
func (s service) ids(t *testing.T) (uid, gid int) {
	t.Helper()
	user, group, _ := strings.Cut(s.User, ":")
	uid, err := strconv.Atoi(user)
	if err != nil {
		t.Fatal(err)
	}
	if gid, err = strconv.Atoi(group); err != nil {
		t.Fatal(err)
	}
	return uid, gid
}
