package encoders_test

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

type fileParams struct {
	Level int    `toml:"level" help:"effort"`
	Model string `toml:"model" help:"a file" file:"true"`
}

// The codec opens the resolved path, and the canonical text keeps the original name.
func TestLocated(t *testing.T) {
	var opened string
	codec := encoders.Codec{Name: "x", Params: &fileParams{}, New: func(_ *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		opened = params.(*fileParams).Model
		return nil, nil, nil
	}}
	found := encoders.LocateFiles(&codec, func(name string) string { return "/elsewhere/" + name })
	params := &fileParams{Level: 3, Model: "game.model"}
	if _, _, err := found.New(nil, params); err != nil || opened != "/elsewhere/game.model" || params.Model != "game.model" {
		t.Errorf("opened %q, the params are %+v, error %v", opened, params, err)
	}
	if text := string(found.Canonical(params)); text != `level=3 model="game.model"` {
		t.Errorf("canonical text %s", text)
	}
	if _, _, _ = found.New(nil, &fileParams{}); opened != "" {
		t.Errorf("without a name, %q was opened", opened)
	}
	if names := codec.UnsetFiles(&fileParams{}); len(names) != 1 || names[0] != "model" || len(codec.UnsetFiles(params)) != 0 {
		t.Errorf("unset files: %v", names)
	}
	if encoders.LocateFiles(&codec, nil) != &codec {
		t.Error("Located(nil) returned another codec")
	}
}
