# Sets OPSPEC_TOOLCHAIN_DIR, the folder that install.sh fills, as that script chooses it.
if(DEFINED ENV{OPSPEC_TOOLCHAIN})
  set(OPSPEC_TOOLCHAIN_DIR "$ENV{OPSPEC_TOOLCHAIN}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(OPSPEC_TOOLCHAIN_DIR "$ENV{XDG_CACHE_HOME}/opspec/toolchain")
else()
  set(OPSPEC_TOOLCHAIN_DIR "$ENV{HOME}/.cache/opspec/toolchain")
endif()
