package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func read(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestComposeFileIsHardened checks that compose.yaml of the repository has no violation.
func TestComposeFileIsHardened(t *testing.T) {
	t.Parallel()
	for _, f := range check(t.Context(), []byte(read(t))) {
		t.Error(f)
	}
}

// TestEachRuleCanFail checks that check reports a violation of each rule.
func TestEachRuleCanFail(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ old, new, want string }{
		"a writable file system":           {"read_only: true", "read_only: false", "its file system is writable"},
		"kept capabilities":                {"cap_drop: [ALL]", "cap_drop: [NET_RAW]", "it has capabilities"},
		"an added capability":              {"cap_drop: [ALL]", "cap_drop: [ALL]\n  cap_add: [SYS_ADMIN]", "it has capabilities"},
		"new privileges allowed":           {"no-new-privileges:true", "no-new-privileges:false", "it can gain privileges"},
		"privileged":                       {"read_only: true", "read_only: true\n  privileged: true", "it is privileged"},
		"root":                             {`user: "65532:65532"`, `user: "0:0"`, "it runs as root"},
		"no user":                          {`  user: "65532:65532"` + "\n", "", "it runs as root"},
		"no memory limit":                  {"  mem_limit: 512m\n", "", "it has no memory limit"},
		"no process limit":                 {"  pids_limit: 256\n", "", "it has no process limit"},
		"shared memory":                    {"/dev/shm:ro", "/run", "its /dev/shm is writable"},
		"queues":                           {"/dev/mqueue:ro", "/run", "its /dev/mqueue is writable"},
		"no health check":                  {"    healthcheck: *service-health\n", "", "it has no health check"},
		"a migration that always restarts": {"restart: on-failure", "restart: always", "it has no health check"},
		"an image built by Compose":        {"image: ${HUB_IMAGE:-signalcast/hub:local}\n    command: [\"serve\"]", "build: .\n    command: [\"serve\"]", "it must name an image"},
		"the host's network":               {"    networks: [data, front]\n    ports: [\"127.0.0.1:${HUB", "    network_mode: host\n    ports: [\"127.0.0.1:${HUB", "it shares a namespace of the host"},
		"a port on every address":          {`"127.0.0.1:${API_PORT`, `"${API_PORT`, "is published on every address"},
		"a folder of the host":             {"pgdata:/var/lib/signalcast", "/srv:/var/lib/signalcast", "it mounts /srv of the host"},
		"a default secret":                 {"${ADMIN_SECRET:?at least 32 characters}", "${ADMIN_SECRET:-letmein}", "ADMIN_SECRET is a secret"},
		"an optional secret":               {"${CRON_SECRET:?at least 32 characters}", "${CRON_SECRET}", "CRON_SECRET is a secret"},
		"a secret in the file":             {"${ADMIN_SECRET:?at least 32 characters}", "letmein", "ADMIN_SECRET has a value in the file"},
		"an external data network":         {"data: { internal: true }", "data: {}", "network data is not internal"},
		"a missing dependency":             {"  redis:\n    <<: *hardened", "  cache:\n    <<: *hardened", "does not load"},
		"a missing hub":                    {"  hub:\n    <<: *hardened", "  other:\n    <<: *hardened", "hub is missing"},
		"a required variable in a comment": {"x-hardened", "# ${LOST:?x}\nx-hardened", "LOST is marked as required"},
		"a top-level name":                 {"services:\n", "name: signalcast\nservices:\n", "a top-level name"},
		"a syntax line":                    {"x-hardened", "# syntax=docker/dockerfile:1\nx-hardened", "a syntax line"},
		"not a compose file":               {"services:\n", "servces:\n", "does not load"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := read(t)
			if !strings.Contains(text, tc.old) {
				t.Fatalf("compose.yaml does not contain %q", tc.old)
			}
			found := strings.Join(check(t.Context(), []byte(strings.Replace(text, tc.old, tc.new, 1))), "\n")
			if !strings.Contains(found, tc.want) {
				t.Fatalf("violations:\n%s\nwant %q", found, tc.want)
			}
		})
	}
}

// TestPrintedProject checks that the printed JSON contains merged settings, and that printProject refuses an invalid file.
func TestPrintedProject(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := printProject(&out, []byte(read(t))); err != nil {
		t.Fatal(err)
	}
	var project struct {
		Services map[string]struct {
			User     string `json:"user"`
			MemLimit string `json:"mem_limit"`
		} `json:"services"`
	}
	if err := json.Unmarshal(out.Bytes(), &project); err != nil {
		t.Fatal(err)
	}
	if hub := project.Services["hub"]; hub.User != "65532:65532" || hub.MemLimit != "536870912" {
		t.Errorf("the hub has user and memory limit %+v; want 65532:65532 and 536870912", hub)
	}
	if err := printProject(&out, []byte("servces: {}")); err == nil {
		t.Error("an invalid compose file was printed")
	}
}
