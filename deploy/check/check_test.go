package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const (
	base    = "../../compose.yaml"
	overlay = "../../compose.production.yaml"
)

func read(t *testing.T, names ...string) []file {
	t.Helper()
	files, err := readFiles(names)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestComposeFilesAreChecked checks that compose.yaml and compose.production.yaml of the repository have no violation.
func TestComposeFilesAreChecked(t *testing.T) {
	t.Parallel()
	for _, f := range append(checkLocal(t.Context(), read(t, base)...), checkProduction(t.Context(), read(t, base, overlay)...)...) {
		t.Error(f)
	}
}

// TestProductionRequiresEachSecret checks that the files for production do not load without one of the secrets, and that the error
// names it.
func TestProductionRequiresEachSecret(t *testing.T) {
	t.Parallel()
	files := read(t, base, overlay)
	for _, name := range []string{
		"POSTGRES_PASSWORD", "API_DB_PASSWORD", "HUB_DB_PASSWORD", "CLOCK_DB_PASSWORD", "REDIS_PASSWORD", "LINK_SECRET", "MASK_SECRET",
		"WEBHOOK_SECRET_KEY", "CHECKPOINT_KEY", "SESSION_SECRETS", "SUCCESSOR_SECRETS", "HUB_KEYS", "ADMIN_SECRET", "CRON_SECRET",
		"IDP_PROVIDERS", "HUB_URL",
	} {
		if _, err := load(t.Context(), files, name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the error without %s is %v; want one that names it", name, err)
		}
	}
	if _, err := load(t.Context(), files, ""); err != nil {
		t.Errorf("with all secrets: %v", err)
	}
}

// TestEachRuleCanFail checks that checkLocal or checkProduction reports a violation of each rule. A case changes one of the two
// files.
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
		"no health check":                  {"    healthcheck: *health\n", "", "it has no health check"},
		"a migration that always restarts": {"restart: on-failure", "restart: always", "it has no health check"},
		"a service without an image":       {"    image: ${HUB_IMAGE:-signalcast/hub:local}\n", "", "it names no image"},
		"the host's network":               {"    networks: [data, front]\n    ports: [\"127.0.0.1:${HUB", "    network_mode: host\n    ports: [\"127.0.0.1:${HUB", "it shares a namespace of the host"},
		"a port on every address":          {`"127.0.0.1:${API_PORT`, `"${API_PORT`, "is published on every address"},
		"a folder of the host":             {"postgres:/var/lib/postgresql/data", "/srv:/var/lib/postgresql/data", "it mounts /srv of the host"},
		"an external data network":         {"data: { internal: true }", "data: {}", "network data is not internal"},
		"a missing dependency":             {"  redis:\n    <<: *data", "  cache:\n    <<: *data", "does not load"},
		"a missing hub":                    {"  hub:\n    <<: *hardened", "  other:\n    <<: *hardened", "hub is missing"},
		"a top-level name":                 {"services:\n", "name: signalcast\nservices:\n", "a top-level name"},
		"a syntax line":                    {"x-hardened", "# syntax=docker/dockerfile:1\nx-hardened", "a syntax line"},
		"not a compose file":               {"services:\n", "servces:\n", "does not load"},
		"a variable for local use":         {"CRON_SECRET: development-only-cron-secret-not-for-production", "CRON_SECRET: ${CRON_SECRET:?set CRON_SECRET}", "CRON_SECRET is required; the file must start"},
		"a secret that looks real":         {"CRON_SECRET: development-only-cron-secret-not-for-production", "CRON_SECRET: 5f0e1c7a9b", "hub: CRON_SECRET does not contain the word development"},
		"a missing simulator":              {"  venues: # development", "  markets: # development", "venues is missing"},

		"a default secret":                    {"ADMIN_SECRET: ${ADMIN_SECRET:?set ADMIN_SECRET to at least 32 characters}", "ADMIN_SECRET: letmein", "api: ADMIN_SECRET is a secret"},
		"an optional secret":                  {"${CRON_SECRET:?set CRON_SECRET to at least 32 characters}", "${CRON_SECRET:-letmein}", "hub: CRON_SECRET is a secret"},
		"a secret of local use":               {"      CRON_SECRET: ${CRON_SECRET:?set CRON_SECRET to at least 32 characters}\n", "", "hub: CRON_SECRET has a value of the file for local use"},
		"a secret without its name":           {"?set CRON_SECRET to", "?set it to", "CRON_SECRET is missing a value: set it to"},
		"a required variable in a comment":    {"x-common", "# ${LOST:?set LOST}\nx-common", "LOST is marked as required"},
		"a venue of local use":                {"      KALSHI_URL: ${KALSHI_URL-https://external-api.kalshi.com/trade-api/v2}\n", "", "api: KALSHI_URL has a value of the file for local use"},
		"an address of local use":             {"      HLS_URL: ${HLS_URL:-}\n", "", "hub: HLS_URL has a value of the file for local use"},
		"development settings":                {"ENV: production", "ENV: development", "ENV has a value of the file for local use"},
		"the development issuer":              {"  idp: { profiles: [absent] }\n", "", "idp is started in production"},
		"a writable container of the overlay": {"  clock:\n", "  clock:\n    read_only: false\n", "clock: its file system is writable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := read(t, base, overlay)
			changed := false
			for i := range files {
				text := string(files[i].text)
				if strings.Contains(text, tc.old) && !changed {
					files[i].text, changed = []byte(strings.Replace(text, tc.old, tc.new, 1)), true
				}
			}
			if !changed {
				t.Fatalf("no compose file contains %q", tc.old)
			}
			found := strings.Join(append(checkLocal(t.Context(), files[0]), checkProduction(t.Context(), files...)...), "\n")
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
	if err := printProject(&out, read(t, base, overlay)...); err != nil {
		t.Fatal(err)
	}
	var project struct {
		Services map[string]struct {
			User        string `json:"user"`
			MemLimit    string `json:"mem_limit"`
			Environment map[string]*string
		} `json:"services"`
	}
	if err := json.Unmarshal(out.Bytes(), &project); err != nil {
		t.Fatal(err)
	}
	hub := project.Services["hub"]
	if hub.User != "65532:65532" || hub.MemLimit != "536870912" || *hub.Environment["ENV"] != "production" {
		t.Errorf("the hub is %+v; want user 65532:65532, 536870912 bytes and ENV=production", hub)
	}
	if err := printProject(&out, file{"x.yaml", []byte("servces: {}")}); err == nil {
		t.Error("an invalid compose file was printed")
	}
}
