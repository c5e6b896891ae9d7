package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
)

// A host starts one runtime, shares it among its agents, and shuts it down.
func Example() {
	ctx := context.Background()
	rt, err := supervisor.Start(ctx, supervisor.DefaultConfig())
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		stop, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if err := rt.Shutdown(stop); err != nil {
			log.Print(err) // an *UnreapedError names what is left
		}
	}()

	report, err := rt.Diagnostics(ctx, supervisor.Document{Project: "/no/such/project", File: "main.go"})
	switch {
	case messages.KindOf(err) == messages.KindInvalid:
		fmt.Println("refused:", err)
	case errors.As(err, new(*messages.TimeoutError)):
		fmt.Println("not done in time:", err)
	case err == nil:
		for _, d := range report.Diagnostics {
			fmt.Println(d.Range.Start.Line+1, d.Severity, d.Message)
		}
	}
	// Output: refused: project_dir does not exist: /no/such/project
}
