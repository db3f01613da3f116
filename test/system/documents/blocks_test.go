package documents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/test/system/openapi"
)

// block is one fenced block of a page. Its kind is the first word after the fence; the others say what it is checked
// against.
type block struct {
	page string
	line int
	kind string
	args []string
	text string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// ran are the kinds of blocks that TestReadme runs, in order, on a new system.
var ran = []string{"sh", "go", "js"}

// checked are the kinds of blocks that are compared with the code.
var checked = map[string]func(block) error{
	"json":    checkJSON,    // the named schema, `frames` of the websocket, or `settings` of another program
	"http":    checkHTTP,    // a request and its answer, or a `delivery` of a webhook
	"console": checkConsole, // commands that do not end or take long: what they name exists
	"text":    checkText,    // `output` of the block before (TestReadme compares), a `stream`, a `drawing`
	"path":    checkPath,    // the files of a path; TestPathsOfArchitecture compares them with those that run
}

// blocksOf returns the fenced blocks of a page without their indentation.
func blocksOf(t *testing.T, page string) (all []block) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repo, page))
	if err != nil {
		t.Fatal(err)
	}
	var open *block
	indent := ""
	for i, line := range strings.Split(string(raw), "\n") {
		bare := strings.TrimLeft(line, " ")
		switch {
		case open == nil && strings.HasPrefix(bare, "```"):
			kind, args, _ := strings.Cut(strings.TrimPrefix(bare, "```"), " ")
			open, indent = &block{page: page, line: i + 1, kind: kind, args: strings.Fields(args)}, strings.TrimSuffix(line, bare)
		case open != nil && bare == "```":
			all, open = append(all, *open), nil
		case open != nil:
			open.text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	if open != nil {
		t.Errorf("%s is not closed", open)
	}
	return all
}

// Every block of the documentation is run or compared with the code.
func TestEveryBlock(t *testing.T) {
	t.Parallel()
	counted := map[string]int{}
	for _, page := range documents(t) {
		for _, b := range blocksOf(t, page) {
			counted[b.kind]++
			if slices.Contains(ran, b.kind) {
				continue
			}
			check := checked[b.kind]
			if check == nil {
				t.Errorf("%s: blocks of the kind %q are not checked", b, b.kind)
			} else if err := check(b); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
	}
	for kind := range checked {
		if counted[kind] == 0 {
			t.Errorf("no page has a block of the kind %q", kind)
		}
	}
	t.Logf("%v", counted)
}

// values reads consecutive JSON values.
func values(text string) (all []any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

func checkPath(b block) error {
	if len(b.args) != 1 {
		return errors.New("name the path after the word path")
	}
	return nil
}

func checkJSON(b block) error {
	if len(b.args) != 1 {
		return errors.New("name the schema behind the word json")
	}
	all, err := values(b.text)
	if err != nil || len(all) == 0 {
		return fmt.Errorf("%d values: %v", len(all), err)
	}
	doc, err := openapi.Shared()
	if err != nil {
		return err
	}
	switch b.args[0] {
	case "frames":
		return checkFrames(all)
	case "settings":
		return checkSettings(doc, b.text)
	case "error":
		return checkErrors(doc, all)
	}
	for _, v := range all {
		if err := doc.CheckSchema(b.args[0], v); err != nil {
			return err
		}
	}
	return nil
}

// checkErrors requires that every value is an error of some operation.
func checkErrors(doc *openapi.Document, all []any) error {
	for _, v := range all {
		if !slices.ContainsFunc(doc.Operations, func(o *openapi.Operation) bool { return refusesWith(o, v) }) {
			return fmt.Errorf("no operation refuses with %v", v)
		}
	}
	return nil
}

// refusesWith reports whether v is one of the errors of the operation.
func refusesWith(o *openapi.Operation, v any) bool {
	for status, res := range o.Spec().Responses.Map() {
		media := res.Value.Content.Get("application/json")
		if status >= "400" && media != nil && media.Schema.Value.VisitJSON(v) == nil {
			return true
		}
	}
	return false
}

var ourAddress = regexp.MustCompile(`https://(hub|api|clock)\.example(/[^"?#]*)`)

// checkSettings requires that the addresses of the services in settings of other programs are documented.
func checkSettings(doc *openapi.Document, text string) error {
	found := ourAddress.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return errors.New("it names no address of ours")
	}
	for _, m := range found {
		if !slices.ContainsFunc(doc.Operations, func(o *openapi.Operation) bool { return o.Host == m[1] && o.Path == m[2] }) {
			return fmt.Errorf("%s is not documented", m[0])
		}
	}
	return nil
}

// ofFrame are the members of each frame besides `op`; a question mark marks an optional one.
var ofFrame = map[string]string{
	"auth": "id? token", "subscribe": "id? channels since?", "unsubscribe": "id? channels", "ping": "id?",
	"hello": "protocol connectionId heartbeatS limits serverTime head", "ack": "id? channels", "snapshot": "channel seq at data",
	"event": "channel seq? prev? type at data", "gap": "channel from oldest", "beat": "head at", "error": "id? error message? channel?", "pong": "id?",
}

func checkFrames(all []any) error {
	for _, v := range all {
		frame, _ := v.(map[string]any)
		op, _ := frame["op"].(string)
		members, known := ofFrame[op]
		if !known {
			return fmt.Errorf("no frame is a %q", op)
		}
		left := len(frame) - 1
		for _, name := range strings.Fields(members) {
			bare := strings.TrimSuffix(name, "?")
			if _, there := frame[bare]; there {
				left--
			} else if bare == name {
				return fmt.Errorf("%s without %s", op, name)
			}
		}
		if left != 0 {
			return fmt.Errorf("%s has members of no frame: %v", op, frame)
		}
	}
	return nil
}

var (
	requestLine = regexp.MustCompile(`(?m)^(GET|POST|PUT|PATCH|DELETE) (?:\{(hub|api|clock)\})?(/\S*)[ \t]*`)
	answerLine  = regexp.MustCompile(`(?m)^([1-5]\d\d)[ \t]+`)
)

// checkHTTP checks requests, each with its body and its answer if it has one.
func checkHTTP(b block) error {
	if slices.Contains(b.args, "delivery") {
		return checkDelivery(b)
	}
	doc, err := openapi.Shared()
	if err != nil {
		return err
	}
	at := requestLine.FindAllStringSubmatchIndex(b.text, -1)
	if len(at) == 0 || at[0][0] != 0 {
		return errors.New("it does not begin with a request")
	}
	for i, m := range at {
		end := len(b.text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		host := "hub"
		if m[4] >= 0 {
			host = b.text[m[4]:m[5]]
		}
		o := doc.Lookup(host, b.text[m[2]:m[3]], b.text[m[6]:m[7]])
		if o == nil {
			return fmt.Errorf("%s is no route of the %s", strings.TrimSpace(b.text[m[0]:m[1]]), host)
		}
		if err := fits(o, b.text[m[1]:end]); err != nil {
			return fmt.Errorf("%s: %w", o.Name(), err)
		}
	}
	return nil
}

// fits compares the text after a request line, its body and then the answer, with the operation.
func fits(o *openapi.Operation, rest string) error {
	body, answer, status := rest, "", ""
	if m := answerLine.FindStringSubmatchIndex(rest); m != nil {
		body, status, answer = rest[:m[0]], rest[m[2]:m[3]], rest[m[1]:]
	}
	if strings.Contains(body, "{") {
		if o.Spec().RequestBody == nil {
			return errors.New("it takes no body")
		}
		if err := fitsMedia(o.Spec().RequestBody.Value.Content, body); err != nil {
			return fmt.Errorf("its body: %w", err)
		}
	}
	if status == "" {
		return nil
	}
	res := o.Spec().Responses.Value(status)
	if res == nil {
		return fmt.Errorf("no answer of it is %s", status)
	}
	if err := fitsMedia(res.Value.Content, answer); err != nil {
		return fmt.Errorf("its answer: %w", err)
	}
	return nil
}

func fitsMedia(content openapi3.Content, text string) error {
	media := content.Get("application/json")
	all, err := values(text)
	if err != nil || len(all) != 1 || media == nil {
		return fmt.Errorf("%d values of JSON: %v", len(all), err)
	}
	return media.Schema.Value.VisitJSON(all[0], openapi3.MultiErrors())
}

// checkDelivery compares the headers of a delivery with the code that sends it, and its events with the frames of the
// websocket.
func checkDelivery(b block) error {
	head, body, ok := strings.Cut(b.text, "\n\n")
	all, err := values(body)
	if !ok || err != nil || len(all) != 1 {
		return fmt.Errorf("%d values of JSON: %v", len(all), err)
	}
	var source strings.Builder
	files, err := filepath.Glob(filepath.Join(repo, "services/api/internal/delivery/*.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		source.Write(raw)
	}
	for _, line := range strings.Split(head, "\n")[1:] {
		if name, _, _ := strings.Cut(line, ":"); !strings.Contains(source.String(), `"`+name+`"`) {
			return fmt.Errorf("no delivery has the header %s", name)
		}
	}
	events, _ := all[0].(map[string]any)["events"].([]any)
	if len(events) == 0 {
		return errors.New("no events")
	}
	return checkFrames(events)
}

// checkConsole requires that the targets and directories of make, go and git commands exist.
func checkConsole(b block) error {
	makefile, err := os.ReadFile(filepath.Join(repo, "Makefile"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(b.text) {
		words := strings.Fields(line)
		switch {
		case len(words) < 2:
			return fmt.Errorf("%q is no command", line)
		case words[0] == "make":
			if !strings.Contains(string(makefile), "\n"+words[1]+": ") {
				return fmt.Errorf("make has no target %s", words[1])
			}
		case words[0] == "git" && words[1] == "clone" && strings.HasPrefix(words[2], "https://github.com/signalcast/signalcast"):
		case words[0] == "go":
			dir := repo
			for i, w := range words {
				if w == "-C" {
					dir = filepath.Join(repo, words[i+1])
				} else if strings.HasPrefix(w, "./") {
					if _, err := os.Stat(filepath.Join(dir, w)); err != nil {
						return err
					}
				}
			}
		default:
			return fmt.Errorf("%q cannot be checked", strings.TrimSpace(line))
		}
	}
	return nil
}

func checkText(b block) error {
	switch {
	case slices.Equal(b.args, []string{"output"}): // TestReadme compares it
		return nil
	case slices.Equal(b.args, []string{"drawing"}):
		if !strings.ContainsAny(b.text, "─│►▼└┌") {
			return errors.New("it has no lines")
		}
		return nil
	case slices.Equal(b.args, []string{"stream"}):
		return checkStream(b.text)
	}
	return errors.New("say whether it is output, a stream or a drawing")
}

// checkStream checks server-sent events: their data are frames.
func checkStream(text string) error {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "", "retry", "id", "event":
		case "data":
			all, err := values(value)
			if err != nil {
				return fmt.Errorf("%s: %w", value, err)
			}
			if _, end := all[0].(map[string]any)["code"]; !end {
				if err := checkFrames(all); err != nil {
					return err
				}
			}
		default:
			return fmt.Errorf("%q is no field", name)
		}
	}
	return nil
}
