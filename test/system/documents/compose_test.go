package documents

import (
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
)

// TestSettingsReachContainers checks that compose.yaml, also with compose.production.yaml, passes every setting of a service to
// its container. Together with TestSettingsOfThePage, every setting of operations.md has an effect there.
func TestSettingsReachContainers(t *testing.T) {
	t.Parallel()
	for name, files := range map[string][]string{
		"local use":  {"-file", "../../compose.yaml"},
		"production": {"-file", "../../compose.yaml", "-file", "../../compose.production.yaml"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", ".", "-print"}, files...)...)
		cmd.Dir, cmd.Env = repo+"/deploy/check", append(cmd.Environ(), "GOWORK=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("print the project of %s: %v", name, err)
		}
		var project struct {
			Services map[string]struct{ Environment map[string]*string }
		}
		if err := json.Unmarshal(out, &project); err != nil {
			t.Fatal(err)
		}
		for _, service := range openapi.Hosts {
			known := settings{}
			known.settingsOf(t, service, "services/"+service+"/internal")
			for _, shared := range []string{"pkg/httpx", "pkg/telemetry", "pkg/service"} {
				known.settingsOf(t, service, shared)
			}
			if len(known) < 20 {
				t.Fatalf("%d settings of %s were found; want at least 20", len(known), service)
			}
			for _, setting := range slices.Sorted(maps.Keys(known)) {
				container := service
				if strings.HasPrefix(setting, "MIGRATE_") || setting == "DB_RW_PASSWORD" {
					container = "migrate-" + service
				}
				if _, ok := project.Services[container].Environment[setting]; !ok {
					t.Errorf("%s: %s does not reach the container %s", name, setting, container)
				}
			}
		}
	}
}
