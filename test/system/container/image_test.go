package container

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"
)

// archive returns a tar archive with these entries. The content of each entry is its Linkname.
func archive(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range entries {
		content := h.Linkname // a regular file has no link name, so the test stores the content in it
		h.Linkname, h.Size = "", int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSavedImage(t *testing.T) {
	t.Parallel()
	below := archive(t, tar.Header{Name: "bin/sh", Mode: 0o4755, Linkname: "a shell"})
	above := archive(t, tar.Header{Name: "bin/.wh.sh", Mode: 0o600}, tar.Header{Name: "service", Mode: 0o755, Linkname: "a program"})
	const manifest = `[{"Layers":["one/layer.tar","two/layer.tar"]}]`
	files, err := readSaved(bytes.NewReader(archive(
		t, tar.Header{Name: "one/layer.tar", Linkname: string(below)}, tar.Header{Name: "two/layer.tar", Linkname: string(above)},
		tar.Header{Name: "manifest.json", Linkname: manifest})))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if strings.Join(names, " ") != "bin/sh bin/.wh.sh service" {
		t.Errorf("files of the image are %q; want hidden files included", names)
	}
	if files[0].Mode != 0o4755 || files[2].Sum != sha256.Sum256([]byte("a program")) {
		t.Errorf("files of the image are %+v; want the mode of the first and the content of the last file", files)
	}
}

func TestInvalidSavedImages(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{
		"not an archive":    []byte(strings.Repeat("text ", 300)),
		"no manifest.json":  archive(t),
		"a missing layer":   archive(t, tar.Header{Name: "manifest.json", Linkname: `[{"Layers":["one"]}]`}),
		"a truncated layer": archive(t, tar.Header{Name: "one", Linkname: strings.Repeat("x", 600)}, tar.Header{Name: "manifest.json", Linkname: `[{"Layers":["one"]}]`}),
		"two images":        archive(t, tar.Header{Name: "manifest.json", Linkname: `[{},{}]`}),
	} {
		if files, err := readSaved(bytes.NewReader(raw)); err == nil {
			t.Errorf("%s: %d files were read; want an error", name, len(files))
		}
	}
}
