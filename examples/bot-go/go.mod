module example.com/bot

go 1.26.0

require github.com/signalcast/signalcast/sdk/go v0.0.0

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/gowebpki/jcs v1.0.2 // indirect
	github.com/oapi-codegen/runtime v1.8.0 // indirect
)

// Remove this line to use a published version of the library.
replace github.com/signalcast/signalcast/sdk/go => ../../sdk/go
