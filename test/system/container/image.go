package container

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// File is the tar header of a file or directory in a layer of an image, with a hash of the content.
type File struct {
	*tar.Header
	Sum [sha256.Size]byte // SHA-256 of the content
}

// Files returns the files of all layers of an image. It includes files that a later layer hides or replaces, because
// the image still contains them.
func (e *Engine) Files(ctx context.Context, image string) ([]File, error) {
	resp, err := e.open(ctx, http.MethodGet, "/images/"+url.PathEscape(image)+"/get", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	files, err := readSaved(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read image %s: %w", image, err)
	}
	return files, nil
}

// readSaved returns the files of all layers of one image in the format of docker save: a tar archive that contains a tar archive
// for each layer, and manifest.json, which lists the layers.
func readSaved(r io.Reader) (files []File, err error) {
	parts := map[string][]byte{}
	err = each(r, func(h *tar.Header, r io.Reader) error {
		parts[h.Name], err = io.ReadAll(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	var list []struct{ Layers []string }
	if err := json.Unmarshal(parts["manifest.json"], &list); err != nil {
		return nil, fmt.Errorf("manifest.json: %w", err)
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("the archive contains %d images; want 1", len(list))
	}
	for _, layer := range list[0].Layers {
		raw, ok := parts[layer]
		if !ok {
			return nil, fmt.Errorf("manifest.json names the layer %s, which the archive does not contain", layer)
		}
		err := each(bytes.NewReader(raw), func(h *tar.Header, r io.Reader) error {
			f, sum := File{Header: h}, sha256.New()
			_, err := io.Copy(sum, r)
			sum.Sum(f.Sum[:0])
			files = append(files, f)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("layer %s: %w", layer, err)
		}
	}
	return files, nil
}

// each calls the function do for each entry of a tar archive. It stops at the first error.
func each(r io.Reader, do func(*tar.Header, io.Reader) error) error {
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(h, t)
		}
		if err != nil {
			return err
		}
	}
}
