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

// File is one file or folder in a layer of an image.
type File struct {
	*tar.Header
	Sum [sha256.Size]byte // of the content
}

// Files returns the files of all layers of an image, also those that a later layer hides or replaces: they are part of the image.
func (e *Engine) Files(ctx context.Context, image string) ([]File, error) {
	resp, err := e.open(ctx, http.MethodGet, "/images/"+url.PathEscape(image)+"/get", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	files, err := readSaved(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", image, err)
	}
	return files, nil
}

// readSaved returns the files of a saved image: an archive of layers, which are archives, and their list.
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
		return nil, fmt.Errorf("%d images, want 1", len(list))
	}
	for _, layer := range list[0].Layers {
		raw, ok := parts[layer]
		if !ok {
			return nil, fmt.Errorf("there is no layer %s", layer)
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

// each calls do for each entry of an archive.
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
