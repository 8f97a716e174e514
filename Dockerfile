# docker build -t howsteps .
# docker run --rm --user "$(id -u)" -v "$PWD:/work" howsteps run videos/ --out steps/
# docker run --rm --user "$(id -u)" -v "$PWD:/work" -p 8000:8000 howsteps serve steps/ --host 0.0.0.0 --port 8000
FROM python:3.12-slim AS build
COPY . /source
RUN pip install --no-cache-dir --no-compile --prefix /install --constraint /source/constraints.txt "/source[vision,serve]"

FROM python:3.12-slim
COPY --from=build /install /usr/local
# Whoever runs it has no home here. The demo compiles what a first run would compile.
ENV HOME=/tmp NUMBA_CACHE_DIR=/opt/compiled
RUN howsteps demo --quiet --out /tmp/demo && rm -r /tmp/demo && chmod -R a+rwX /opt/compiled
USER 1000
WORKDIR /work
EXPOSE 8000
ENTRYPOINT ["howsteps"]
CMD ["--help"]
