package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo says which build this is.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source; empty where the build doesn't know
	Modified bool   `json:"modified,omitempty"` // the source differed from the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print which build this is",
		Args:  arguments(cobra.NoArgs, "version"),
		RunE: func(*cobra.Command, []string) error {
			build, _ := debug.ReadBuildInfo() // nil where there is none
			info := describeBuild(build)
			if a.json {
				return a.printJSON(info)
			}
			return a.print(info.String() + "\n")
		},
	}
}

func describeBuild(build *debug.BuildInfo) versionInfo {
	info := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if build == nil {
		return info
	}
	if build.Main.Version != "" {
		info.Version = build.Main.Version
	}
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			info.Revision = setting.Value
		case "vcs.modified":
			info.Modified = setting.Value == "true"
		}
	}
	return info
}

func (v versionInfo) String() string {
	text := "hearth " + v.Version
	if v.Revision != "" {
		text += fmt.Sprintf(" (%.12s", v.Revision)
		if v.Modified {
			text += ", modified"
		}
		text += ")"
	}
	return fmt.Sprintf("%s %s %s", text, v.Go, v.Platform)
}
