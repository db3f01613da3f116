package rows

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// logged is a line of a log.
type logged struct {
	Msg       string `json:"msg"`
	RequestID string `json:"request_id"`

	text   string
	broken bool // it is no JSON
}

// eachLogged reads the logs of the three services.
func eachLogged(env *frame.Env, take func(logged)) error {
	all, err := env.Stack.Logs()
	if err != nil {
		return err
	}
	for _, path := range all {
		switch name := filepath.Base(path); {
		case name == "hub.log", name == "api.log", name == "clock.log", len(name) > 3 && name[:3] == "hub":
		default:
			continue
		}
		if err := readLog(path, take); err != nil {
			return err
		}
	}
	return nil
}

func readLog(path string, take func(logged)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l := logged{text: lines.Text()}
		l.broken = json.Unmarshal(lines.Bytes(), &l) != nil
		take(l)
	}
	return lines.Err()
}
