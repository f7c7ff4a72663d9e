"""Connect the course to nbgrader: plugins and steps that nbgrader calls, and patches of its applications."""
