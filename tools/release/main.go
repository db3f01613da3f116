// Command release writes the artefacts of a release that the programs and the commit determine: archives, SBOMs, images and
// the zip of the Go library. tools/release.sh calls it with the compiled programs.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// release contains the flags of the command.
type release struct {
	programs, sdk, out, version, commit, prefix string

	at time.Time // time of the commit; every file has it, so that two builds of a commit are equal
}

func main() {
	var r release
	flag.StringVar(&r.programs, "programs", "", "directory with the programs, as OS/ARCH/NAME")
	flag.StringVar(&r.sdk, "sdk", "", "directory with the files of the Go library at the commit")
	flag.StringVar(&r.out, "out", "", "directory for the artefacts")
	flag.StringVar(&r.version, "version", "", "semantic version with the prefix v")
	flag.StringVar(&r.commit, "commit", "", "commit of the release")
	flag.StringVar(&r.prefix, "image-prefix", "", "prefix of image names")
	seconds := flag.Int64("time", 0, "time of the commit in seconds of Unix time")
	flag.Parse()
	r.at = time.Unix(*seconds, 0).UTC()
	if err := r.write(); err != nil {
		log.Fatal("release: ", err)
	}
}

// write writes all artefacts of the release. Relative paths are relative to the directory tools.
func (r release) write() error {
	platforms, err := filepath.Glob(filepath.Join(r.programs, "*", "*"))
	if err != nil {
		return err
	}
	for _, dir := range platforms {
		goos, arch := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		if err := r.writePlatform(dir, goos, arch); err != nil {
			return fmt.Errorf("%s/%s: %w", goos, arch, err)
		}
	}
	return r.writeModule()
}

// writePlatform writes an archive of the programs of one platform and an SBOM of each program. For Linux it also writes an
// image of each service.
func (r release) writePlatform(dir, goos, arch string) error {
	suffix := "_" + r.version + "_" + goos + "_" + arch
	var all []file
	for _, program := range []string{"api", "clock", "hub", "signalcast"} {
		path := filepath.Join(dir, program)
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := r.writeSBOM(r.out+"/"+program+suffix+".cdx.json", path); err != nil {
			return err
		}
		if goos == "linux" && program != "signalcast" {
			if err := r.writeImage(r.out+"/"+program+suffix+".image.tar", program, arch, content); err != nil {
				return err
			}
		}
		all = append(all, file{program, 0o755, 0, content})
	}
	license, err := os.ReadFile("../LICENSE")
	if err != nil {
		return err
	}
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, err = w.Write(r.archive(append(all, file{"LICENSE", 0o644, 0, license})))
	return errors.Join(err, w.Close(), os.WriteFile(r.out+"/signalcast"+suffix+".tar.gz", compressed.Bytes(), 0o644))
}

// file is a file of an archive, or a directory if its name ends in a slash.
type file struct {
	name    string
	mode    int64
	owner   int // user and group
	content []byte
}

// archive returns a tar archive of files. It panics on an error: writing to memory cannot fail, so an error means an invalid list
// of files.
func (r release) archive(files []file) []byte {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for _, f := range files {
		size := int64(len(f.content))
		err := w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: size, ModTime: r.at})
		if _, writeErr := w.Write(f.content); err != nil || writeErr != nil {
			panic(errors.Join(err, writeErr))
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return buffer.Bytes()
}

// writeSBOM writes an SBOM of a program in the format CycloneDX 1.6, with the modules that the program records.
func (r release) writeSBOM(out, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	component := func(path, version string) cdx.Component {
		url := "pkg:golang/" + path + "@" + version
		return cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, PackageURL: url, Name: path, Version: version}
	}
	main := component(info.Path, r.version)
	main.Type = cdx.ComponentTypeApplication
	modules := []cdx.Component{component("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Version == "(devel)" || m.Replace != nil { // a module of this repository
			m.Version = r.version
		}
		modules = append(modules, component(m.Path, m.Version))
	}
	var refs []string
	for _, m := range modules {
		refs = append(refs, m.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.at.Format(time.RFC3339), Component: &main}
	bom.Components, bom.Dependencies = &modules, &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	var text bytes.Buffer
	err = cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return errors.Join(err, os.WriteFile(out, text.Bytes(), 0o644))
}

// writeImage writes an image of a service as an archive for docker load. The image equals the stage minimal of
// deploy/images/Dockerfile.
func (r release) writeImage(out, service, arch string, program []byte) error {
	certificates, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	if err != nil {
		return fmt.Errorf("install ca-certificates: %w", err)
	}
	const user = 65532
	files := r.archive([]file{
		{"etc/", 0o755, 0, nil},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, certificates},
		{"service", 0o755, 0, program},
		{"video/", 0o755, user, nil},
	})
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil })
	if err != nil {
		return err
	}
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: "linux", Architecture: arch, Created: v1.Time{Time: r.at}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: fmt.Sprintf("%d:%[1]d", user), Entrypoint: []string{"/service"}, Cmd: []string{"serve"},
			Labels: map[string]string{"org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit},
		},
	})
	if err != nil {
		return err
	}
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.at}}})
	if err != nil {
		return err
	}
	tag, err := name.NewTag(r.prefix+"/"+service+":"+r.version, name.WithDefaultRegistry(""))
	return errors.Join(err, tarball.WriteToFile(out, tag, image))
}

// writeModule writes the zip file that a Go module proxy serves for the Go library at the tag sdk/go/VERSION.
func (r release) writeModule() error {
	var content bytes.Buffer
	m := module.Version{Path: "github.com/signalcast/signalcast/sdk/go", Version: r.version}
	err := zip.CreateFromDir(&content, m, r.sdk)
	return errors.Join(err, os.WriteFile(r.out+"/signalcast-sdk-go_"+r.version+".zip", content.Bytes(), 0o644))
}
