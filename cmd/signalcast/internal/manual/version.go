package manual

import (
	"encoding/json"
	"errors"
	"runtime"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
	"github.com/signalcast/signalcast/pkg/version"
	"github.com/signalcast/signalcast/proto/openapi"
)

// Version is the command `signalcast version`.
type Version struct{}

// buildInfo is the JSON output of the command version.
type buildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // commit
	Contract string `json:"contract"`           // version of the contract (docs/protocol/README.md)
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readBuildInfo() (buildInfo, error) {
	v := version.Read()
	b := buildInfo{Version: v.Version, Revision: v.Commit, Go: v.Go, Platform: runtime.GOOS + "/" + runtime.GOARCH}
	var doc struct {
		Info struct {
			Contract string `json:"x-contract-version"`
		}
	}
	err := json.Unmarshal(openapi.JSON, &doc)
	b.Contract = doc.Info.Contract
	return b, err
}

// Run writes the version, the revision and the platform of the program, as JSON or as text.
func (v *Version) Run(s *verbs.Streams) error {
	b, err := readBuildInfo()
	if err != nil {
		return err
	}
	if s.AsJSON() {
		raw, err := json.Marshal(b)
		return errors.Join(err, show.JSON(s.Out, raw))
	}
	return show.Pairs(s.Output(), "signalcast", b.Version, "Revision", b.Revision, "Protocol", b.Contract,
		"Go", b.Go, "Platform", b.Platform)
}
