package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"go.yaml.in/yaml/v3"
)

func main() {
	var f files
	flag.StringVar(&f.in, "in", "", "path of the OpenAPI document in YAML")
	flag.StringVar(&f.errors, "errors", "", "path of the Markdown page with the error codes")
	flag.StringVar(&f.out, "out", "", "JSON file to write")
	flag.StringVar(&f.client, "client", "", "JSON file to write for the client generator")
	flag.StringVar(&f.models, "models", "", "JSON file to write for the generator of Go types")
	flag.StringVar(&f.goDir, "go", "", "folder of the Go library; if empty, no files of the libraries are written")
	flag.StringVar(&f.tsDir, "ts", "", "folder of the TypeScript library")
	flag.Parse()
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

// files are the paths that one run reads and writes.
type files struct{ in, errors, out, client, models, goDir, tsDir string }

func run(f files) error {
	src, err := os.ReadFile(f.in)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	page, err := os.ReadFile(f.errors)
	if err != nil {
		return fmt.Errorf("read the error page: %w", err)
	}
	doc, err := convert(src)
	if err != nil {
		return fmt.Errorf("%s: %w", f.in, err)
	}
	if err := check(doc, codesOf(page)); err != nil {
		return fmt.Errorf("%s: %w", f.in, err)
	}
	client, err := clientView(doc)
	if err != nil {
		return fmt.Errorf("%s: %w", f.in, err)
	}
	models, err := modelsView(doc, client)
	if err != nil {
		return fmt.Errorf("%s: %w", f.in, err)
	}
	if err := errors.Join(put(f.out, doc), put(f.client, client), put(f.models, models)); err != nil || f.goDir == "" {
		return err
	}
	return writeClients(f, doc, page)
}

// writeClients writes the error codes, the routes and the event types to the sources of the client libraries, and the page of their
// methods.
func writeClients(f files, doc, page []byte) error {
	var root map[string]any
	if err := json.Unmarshal(doc, &root); err != nil {
		return err
	}
	routes, err := routesOf(root)
	if err != nil {
		return fmt.Errorf("%s: %w", f.in, err)
	}
	codes, err := statusCodes(page)
	if err != nil {
		return fmt.Errorf("%s: %w", f.errors, err)
	}
	events, err := eventsOf(root)
	if err != nil {
		return fmt.Errorf("%s: %w", f.in, err)
	}
	methods, err := methodsPage(root, f.goDir, f.tsDir)
	if err != nil {
		return err
	}
	return errors.Join(
		put(filepath.Join(filepath.Dir(f.in), "../methods.md"), methods),
		put(filepath.Join(f.goDir, "../feed/events.gen.go"), goEvents(events)),
		put(filepath.Join(f.tsDir, "events.gen.ts"), tsEvents(events)),
		put(filepath.Join(f.goDir, "codes.gen.go"), goCodes(codes)),
		put(filepath.Join(f.goDir, "routes.gen.go"), goRoutes(routes)),
		put(filepath.Join(f.tsDir, "codes.gen.ts"), tsCodes(codes)),
		put(filepath.Join(f.tsDir, "routes.gen.ts"), tsRoutes(routes)),
	)
}

// put writes a file only if its content changes. An unchanged file keeps its modification time, so make does not rebuild.
func put(name string, content []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

var codeCell = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|")

// codesOf returns every error code of the error page. A code is the first cell of a table row.
func codesOf(page []byte) map[string]bool {
	codes := map[string]bool{}
	for _, m := range codeCell.FindAllSubmatch(page, -1) {
		codes[string(m[1])] = true
	}
	return codes
}

// convert converts a YAML document to indented JSON. Members keep the order of the source.
func convert(src []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(src, &root); err != nil {
		return nil, err
	}
	if len(root.Content) != 1 {
		return nil, fmt.Errorf("the file has %d YAML documents; 1 is required", len(root.Content))
	}
	var flat, nice bytes.Buffer
	if err := write(&flat, root.Content[0]); err != nil {
		return nil, err
	}
	if err := json.Indent(&nice, flat.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	nice.WriteByte('\n')
	return nice.Bytes(), nil
}

func write(w *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.AliasNode:
		return write(w, n.Alias)
	case yaml.MappingNode:
		return writeMap(w, n)
	case yaml.SequenceNode:
		w.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				w.WriteByte(',')
			}
			if err := write(w, c); err != nil {
				return err
			}
		}
		w.WriteByte(']')
		return nil
	case yaml.ScalarNode:
		return writeScalar(w, n)
	}
	return fmt.Errorf("line %d: a YAML node of kind %d cannot be converted to JSON", n.Line, n.Kind)
}

func writeMap(w *bytes.Buffer, n *yaml.Node) error {
	seen := make(map[string]bool, len(n.Content)/2)
	w.WriteByte('{')
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] || key.Tag == "!!merge" {
			return fmt.Errorf("line %d: member %q is repeated or a YAML merge key", key.Line, key.Value)
		}
		seen[key.Value] = true
		if i > 0 {
			w.WriteByte(',')
		}
		if err := writeJSON(w, key.Value); err != nil {
			return err
		}
		w.WriteByte(':')
		if err := write(w, n.Content[i+1]); err != nil {
			return err
		}
	}
	w.WriteByte('}')
	return nil
}

func writeScalar(w *bytes.Buffer, n *yaml.Node) error {
	switch n.Tag {
	case "!!null":
		if n.Value == "" { // for example an unquoted text with a comma
			return fmt.Errorf("line %d: empty value; quote a text that contains a comma", n.Line)
		}
		w.WriteString("null")
		return nil
	case "!!bool", "!!int", "!!float":
		var v any
		if err := n.Decode(&v); err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
		return writeJSON(w, v)
	case "!!str", "!!timestamp": // an unquoted date is a string
		return writeJSON(w, n.Value)
	}
	return fmt.Errorf("line %d: YAML tag %s cannot be converted to JSON", n.Line, n.Tag)
}

func writeJSON(w *bytes.Buffer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return nil
}
