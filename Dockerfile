# JupyterLab on the notebooks, for one person, without a Python of one's own:
#
#     docker build -t sequence-course .
#     docker run --rm -p 127.0.0.1:8888:8888 -v sequence-models:/home/student/sequence-models sequence-course
#
# Then open the address that it prints. Your work is kept in the volume `sequence-models`, and a new image adds only the
# notebooks that are missing there.
FROM python:3.11-slim

# The pinned packages first: a change of the course alone does not install them anew.
WORKDIR /course
COPY binder/requirements.txt binder/
RUN pip install --no-cache-dir -r binder/requirements.txt

# What the package is built from, and nothing of a class that works in this folder.
COPY .gitignore pyproject.toml hatch_build.py README.md LICENSE ./
COPY course course
COPY assignments assignments
RUN pip install --no-cache-dir --no-deps . && python -c "import matplotlib.font_manager"

# A container is reached from outside through its own address. `docker run -p` above opens it to this computer alone.
RUN mkdir -p /usr/local/etc/jupyter \
    && echo 'c.ServerApp.ip = "0.0.0.0"' > /usr/local/etc/jupyter/jupyter_server_config.py

RUN useradd --create-home student && install --directory --owner student /home/student/sequence-models
USER student
WORKDIR /home/student
EXPOSE 8888
CMD ["course", "start", "--no-browser"]
