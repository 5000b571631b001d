# What `cmake --install` puts where; the headers keep their rooms, so that pipeloader.h finds proto/tensor/tensor.h beside it.
include(GNUInstallDirs)

install(TARGETS pipeloaderd pipeloaderctl RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS pipeloader EXPORT pipeloader-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
install(TARGETS pipeloader LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_ONLY)
install(TARGETS pipeloader_static EXPORT pipeloader-static
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(PL_HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/pipeloader)
install(FILES ${PROJECT_SOURCE_DIR}/client/pipeloader.h DESTINATION ${PL_HEADERS})
install(FILES ${PROJECT_SOURCE_DIR}/proto/tensor/tensor.h DESTINATION ${PL_HEADERS}/proto/tensor)
foreach(header base err) # with daemon/kit, what plugins are written against
  install(FILES ${PROJECT_SOURCE_DIR}/proto/${header}.h DESTINATION ${PL_HEADERS}/proto)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/daemon/kit DESTINATION ${PL_HEADERS}/daemon
    FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/proto/einops/einops.h DESTINATION ${PL_HEADERS}/proto/einops)

# The directories may be given absolute (Debian) or below the prefix.
foreach(name LIBDIR INCLUDEDIR BINDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${name}}")
    set(PL_PC_${name} "${CMAKE_INSTALL_${name}}")
  else()
    set(PL_PC_${name} "\${prefix}/${CMAKE_INSTALL_${name}}")
  endif()
endforeach()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(PL_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else() # from where the file lies, so that a moved tree and `cmake --install --prefix` work
  file(RELATIVE_PATH PL_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
  set(PL_PC_PREFIX "\${pcfiledir}/${PL_PC_PREFIX}")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/pipeloader.pc.in ${PROJECT_BINARY_DIR}/pipeloader.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pipeloader.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(PL_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/pipeloader)
set(PL_DAEMON ${CMAKE_INSTALL_BINDIR}/pipeloaderd)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pipeloader-config.cmake.in
    ${PROJECT_BINARY_DIR}/pipeloader-config.cmake INSTALL_DESTINATION ${PL_CMAKE}
    PATH_VARS PL_DAEMON)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pipeloader-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pipeloader-config.cmake
    ${PROJECT_BINARY_DIR}/pipeloader-config-version.cmake DESTINATION ${PL_CMAKE})
install(EXPORT pipeloader-targets NAMESPACE pipeloader:: DESTINATION ${PL_CMAKE})
install(EXPORT pipeloader-static NAMESPACE pipeloader:: DESTINATION ${PL_CMAKE})

# Units go where systemd looks for those of this prefix; they name the binary's full path.
foreach(unit pipeloaderd.service pipeloaderd.socket)
  set(source ${CMAKE_CURRENT_LIST_DIR}/systemd/${unit})
  if(EXISTS ${source}.in)
    configure_file(${source}.in ${PROJECT_BINARY_DIR}/${unit} @ONLY)
    set(source ${PROJECT_BINARY_DIR}/${unit})
  endif()
  if(EXISTS ${source})
    install(FILES ${source} DESTINATION lib/systemd/system)
  endif()
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/config/pipelines
    DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL FILES_MATCHING PATTERN "*.yaml")
file(GLOB pages ${CMAKE_CURRENT_LIST_DIR}/man/*.[1-8])
foreach(page ${pages})
  string(REGEX REPLACE ".*\\." "" section ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
