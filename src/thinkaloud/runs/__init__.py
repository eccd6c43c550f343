"""The tool loop: asks a model, runs the tools that it calls, and asks again, until it has answered."""
